"""Asks a model every question of a benchmark under every setup; answers go to the journal.

A setup is a compressor with its settings, and a number of frames. A clip is encoded once for all
setups with the same number of frames. Under each setup, it is compressed and prefilled once for all
its questions. A failure is written to the journal and does not end the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from gleanvid.attribution.measure import measure
from gleanvid.attribution.relevance import Relevance
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.shared.records import whole_record
from gleanvid.cost import visual_tokens_by_layer
from gleanvid.evaluation.benchmarks.base import Benchmark, BenchmarkError, Item
from gleanvid.evaluation.run.journal import AnswerRow, Journal
from gleanvid.evaluation.run.progress import Progress, keep
from gleanvid.evaluation.run.rows import evidence_kept, failure
from gleanvid.evaluation.run.setups import Setup
from gleanvid.metrics.saturation import saturation
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import Encoded
from gleanvid.models.generation.conversation import Conversation
from gleanvid.models.generation.sampling import Sampling
from gleanvid.types import Video

if TYPE_CHECKING:
    from torch import Tensor

Unanswered = Sequence[tuple[Setup, Sequence[Item]]]  # each setup, with its questions about one clip
Part = tuple[str, int, Unanswered]  # clip, number of frames, open questions by setup
_SMALL_MODEL = 5e7  # weights below which several CPU threads mostly wait for each other


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
) -> None:
    """Answer the questions missing in ``journal``, clip by clip, each answer appended at once.

    A failure of a single clip, setup or question is written to the journal.

    Args:
        model: The model to ask.
        benchmark: Provides the clips and prompts, and judges the responses.
        items: The questions.
        setups: The compressors and numbers of frames. Each question is asked under each setup.
        journal: Receives the answers.
        ways: Response modes, such as "likelihood" or "text". By default, the benchmark's own.
        on_progress: Called with the progress after each answer.
        max_pixels: Limit on a clip's pixels as in ``ModelAdapter.encode``.
        relevance: Whether to measure, for each answer, the fraction of the relevance that lies on
            the kept tokens.

    Raises:
        BenchmarkError: The benchmark does not have a response mode.
        JournalError: An answer cannot be written.
    """
    ways = tuple(ways) or (benchmark.how,)
    check_ways(benchmark, ways)
    left = pending(items, setups, journal)
    limits = ways, max_pixels, relevance
    rows = (
        row
        for clip, num_frames, work in left
        for row in answers(
            model, benchmark, partial(benchmark.video, clip, num_frames), work, *limits
        )
    )
    weights = sum(weight.numel() for weight in model.hf_model.parameters())
    threads = torch.get_num_threads()
    if model.device.type == "cpu" and weights < _SMALL_MODEL:
        torch.set_num_threads(1)
    try:
        keep(rows, total(items, setups), missing(left), journal, on_progress)
    finally:
        torch.set_num_threads(threads)


def total(items: Sequence[Item], setups: Sequence[Setup]) -> int:
    """Return the number of answers that a complete evaluation has."""
    return len(items) * len({setup.key for setup in setups})


def missing(left: Sequence[Part]) -> int:
    """Return the number of questions in ``left``, the result of :func:`pending`."""
    return sum(len(items) for *_, work in left for _, items in work)


def check_ways(benchmark: Benchmark, ways: Sequence[str]) -> None:
    """Raise ``BenchmarkError`` for a response mode that the benchmark does not have."""
    for how in ways:
        if how not in benchmark.ways:
            allowed = ", ".join(benchmark.ways)
            raise BenchmarkError(f"how={how!r} must be one of {allowed} for {benchmark.name}")


def pending(items: Sequence[Item], setups: Sequence[Setup], journal: Journal) -> list[Part]:
    """Return the questions that have no answer in the journal yet.

    They are grouped by clip and number of frames, and within these by setup.
    """
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
    """Yield the journal row of every question about one clip under every setup.

    ``read`` returns the clip; if it fails, every row has the error. ``work``: the setups, each with
    its questions. ``ways``: the response modes. With ``relevance``, a relevance map is measured
    once for each question and used for all setups.
    """
    needs = frozenset().union(*(setup.method.needs for setup, _ in work))
    try:
        video = read()
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
    model: ModelAdapter, benchmark: Benchmark, encoded: Encoded, items: Mapping[str, Item], how: str
) -> dict[str, Relevance]:
    """Return a relevance map for each question about one clip, by the question's id.

    A map says how much the model's answer with all tokens rests on each visual token. It is
    measured by gradient. ``how``: the response mode in which the model answers.
    """
    conversation = model.conversation(encoded, FullTokens())
    own = {key: _response(conversation, benchmark, item, how) for key, item in items.items()}
    return {
        key: measure(model, encoded, benchmark.prompt(item, how), own[key])
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
    seconds = time.perf_counter() - started
    size, depth = len(conversation.encoded.tokens), conversation.model.text_config.num_hidden_layers
    layers = visual_tokens_by_layer(conversation.records, size, depth)
    row: AnswerRow = {
        "item": item.id,
        "setup": setup.key,
        "said": responses,
        "right": [benchmark.right(item, response) for response in responses.values()],
        "tokens": [size, layers[0], round(sum(layers) / len(layers), 1)],
        "seconds": seconds,
    }
    record = whole_record(conversation.records)
    if found := saturation(record):
        row["saturated"] = list(found)
    if evidence is not None and evidence.any():
        counts: Any = evidence_kept(record, evidence.cpu())
        row |= counts
    return row


def _response(conversation: Conversation, benchmark: Benchmark, item: Item, how: str) -> str:
    prompt = benchmark.prompt(item, how)
    if how == "likelihood":
        scores = conversation.score(prompt, item.options)
        return item.options[max(range(len(scores)), key=scores.__getitem__)]
    return conversation.ask(prompt, Sampling(benchmark.max_new_tokens)).text
