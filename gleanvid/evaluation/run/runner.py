"""Asks a model every question of a benchmark under every setup; answers go to the journal.

A clip is encoded once for all setups with the same number of frames; under each setup it is
compressed and read once for all its questions. A failure becomes a row and does not end the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from gleanvid.attribution.measure import measure
from gleanvid.attribution.relevance import Relevance
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.evaluation.benchmarks.base import Benchmark, BenchmarkError, Item
from gleanvid.evaluation.run.journal import AnswerRow, Journal
from gleanvid.evaluation.run.phases import check_timed, timed_answers
from gleanvid.evaluation.run.progress import Progress, keep
from gleanvid.evaluation.run.rows import Unanswered, answer_row, failure
from gleanvid.evaluation.run.setups import Setup
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import Encoded
from gleanvid.models.generation.conversation import Conversation
from gleanvid.models.generation.sampling import Sampling
from gleanvid.ops.threads import one_thread_if_small
from gleanvid.types import Video

if TYPE_CHECKING:
    from torch import Tensor

Part = tuple[str, int, Unanswered]  # clip, number of frames, questions by setup
_QUESTION_TOKENS = 50  # estimated tokens of a question, to choose the number of threads


def evaluate(
    model: ModelAdapter,
    benchmark: Benchmark,
    items: Sequence[Item],
    setups: Sequence[Setup],
    journal: Journal,
    ways: Sequence[str] = (),
    on_progress: Callable[[Progress], None] | None = None,
    max_pixels: int | None = None,
    relevance: bool = False,
    phases: bool = False,
) -> None:
    """Answer the questions missing in ``journal``, clip by clip, each answer appended at once.

    ``ways``: ways to get a response (default: the benchmark's own). ``max_pixels`` bounds a clip's
    pixels as in ``ModelAdapter.encode``. ``relevance``: whether to measure the relevance that each
    setup keeps. ``phases``: encode and read the clip for every question, and measure the seconds of
    each phase. Raises ``BenchmarkError`` if the benchmark does not have a way to respond or the way
    cannot be timed, and ``JournalError`` if an answer cannot be written. A failure of a single
    clip, setup or question becomes a row.
    """
    ways = tuple(ways) or (benchmark.how,)
    check_ways(benchmark, ways)
    ask: Callable[..., Iterator[AnswerRow]] = partial(answers, relevance=relevance)
    if phases:
        check_timed(ways)
        ask = timed_answers
    left = pending(items, setups, journal)
    rows = (
        (clip, row)
        for clip, num_frames, work in left
        for row in ask(
            model, benchmark, partial(benchmark.video, clip, num_frames), work, ways, max_pixels
        )
    )
    weights = sum(weight.numel() for weight in model.hf_model.parameters())
    with one_thread_if_small(2.0 * weights * _QUESTION_TOKENS, model.device):
        keep(rows, total(items, setups), missing(left), journal, on_progress)


def total(items: Sequence[Item], setups: Sequence[Setup]) -> int:
    """Return the number of answers that a complete evaluation has."""
    return len(items) * len({setup.key for setup in setups})


def missing(left: Sequence[Part]) -> int:
    """Return the number of answers that :func:`pending` found missing."""
    return sum(len(items) for *_, work in left for _, items in work)


def check_ways(benchmark: Benchmark, ways: Sequence[str]) -> None:
    """Raise ``BenchmarkError`` for a way to respond that the benchmark does not have."""
    for how in ways:
        if how not in benchmark.ways:
            allowed = ", ".join(benchmark.ways)
            raise BenchmarkError(f"how={how!r} must be one of {allowed} for {benchmark.name}")


def pending(items: Sequence[Item], setups: Sequence[Setup], journal: Journal) -> list[Part]:
    """Return (clip, number of frames, unanswered questions by setup) for all missing answers."""
    unique = {setup.key: setup for setup in setups}.values()
    clips: dict[str, list[Item]] = {}
    for item in items:
        clips.setdefault(item.clip, []).append(item)
    parts: list[Part] = []
    for clip, together in clips.items():
        for num_frames in dict.fromkeys(setup.num_frames for setup in unique):
            missing = [
                (setup, [item for item in together if not journal.done((item.id, setup.key))])
                for setup in unique
                if setup.num_frames == num_frames
            ]
            if work := [(setup, left) for setup, left in missing if left]:
                parts.append((clip, num_frames, work))
    return parts


def answers(
    model: ModelAdapter,
    benchmark: Benchmark,
    read: Callable[[], Video],
    work: Unanswered,
    ways: Sequence[str],
    max_pixels: int | None = None,
    relevance: bool = False,
) -> Iterator[AnswerRow]:
    """Yield a row per question and setup of one clip; if the clip cannot be read, all rows fail.

    ``relevance`` is measured once for each question and used for all setups.
    """
    needs = frozenset().union(*(setup.method.needs for setup, _ in work))
    try:
        video = read()
        model.system_message = benchmark.system_message_for(model.hf_model.config.model_type)
        encoded = model.encode(video, needs, max_pixels=max_pixels)
        asked = {item.id: item for _, items in work for item in items}
        evidence = {key: benchmark.evidence(item, encoded.tokens) for key, item in asked.items()}
        maps = relevance_maps(model, benchmark, encoded, asked, ways[0]) if relevance else {}
    except Exception as error:
        for setup, items in work:
            yield from (failure(item, setup, error) for item in items)
        return
    depth: int = model.text_config.num_hidden_layers
    for setup, items in work:
        started = time.perf_counter()
        try:
            conversation = model.conversation(encoded, setup.method)
        except Exception as error:
            yield from (failure(item, setup, error) for item in items)
            continue
        share_s = (time.perf_counter() - started) / len(items)
        for item in items:
            try:
                row = _answer(conversation, benchmark, item, setup, ways, evidence[item.id])
            except Exception as error:
                yield failure(item, setup, error)
                continue
            row["seconds"] = round(row["seconds"] + share_s, 4)
            if found := maps.get(item.id):
                kept = found.kept_over_layers(conversation.records, depth)
                row["relevance"] = [round(value, 6) for value in kept.values()]
            yield row


def relevance_maps(
    model: ModelAdapter,
    benchmark: Benchmark,
    encoded: Encoded,
    items: Mapping[str, Item],
    how: str,
) -> dict[str, Relevance]:
    """Return relevance maps (by gradient) for the model's own answers with all tokens.

    The maps are by the id of the item, for all questions about one clip.
    """
    conversation = model.conversation(encoded, FullTokens())
    own = {key: _response(conversation, benchmark, item, how) for key, item in items.items()}
    return {
        key: measure(model, encoded, benchmark.prompt(item), own[key])
        for key, item in items.items()
    }


def _answer(
    conversation: Conversation,
    benchmark: Benchmark,
    item: Item,
    setup: Setup,
    ways: Sequence[str],
    evidence: Tensor | None,
) -> AnswerRow:
    started = time.perf_counter()
    responses = {how: _response(conversation, benchmark, item, how) for how in ways}
    row = answer_row(
        benchmark,
        item,
        setup,
        responses,
        conversation.records,
        (len(conversation.encoded.tokens), conversation.model.text_config.num_hidden_layers),
        evidence,
    )
    return row | {"seconds": time.perf_counter() - started}


def _response(conversation: Conversation, benchmark: Benchmark, item: Item, how: str) -> str:
    prompt = benchmark.prompt(item)
    if how == "likelihood":
        scores = conversation.score(prompt, item.options)
        return item.options[max(range(len(scores)), key=scores.__getitem__)]
    return conversation.ask(prompt, Sampling(benchmark.max_new_tokens)).text
