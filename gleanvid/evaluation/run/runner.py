"""Asks a model every question of a benchmark under every setup; answers go to the journal.

A clip is encoded once for all setups with the same number of frames; under each setup it is
compressed and read once for all its questions. A failure becomes a row and does not end the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from gleanvid.attribution.measure import measure
from gleanvid.attribution.relevance import Relevance
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.cost import visual_tokens_by_layer
from gleanvid.evaluation.benchmarks.base import Benchmark, BenchmarkError, Item
from gleanvid.evaluation.run.journal import AnswerRow, EvidenceCounts, Journal
from gleanvid.evaluation.run.progress import Progress, keep
from gleanvid.evaluation.run.setups import Setup
from gleanvid.metrics.saturation import saturation
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import Encoded
from gleanvid.models.generation.conversation import Conversation
from gleanvid.models.generation.sampling import Sampling
from gleanvid.ops.records import whole_record
from gleanvid.ops.threads import one_thread_if_small
from gleanvid.types import Compression, Video

if TYPE_CHECKING:
    from torch import Tensor

Unanswered = Sequence[tuple[Setup, Sequence[Item]]]  # questions about one clip, by setup
Part = tuple[str, int, Unanswered]  # clip, frames, questions
_QUESTION_TOKENS = 50  # estimated tokens of each question, for the prefill after the clip


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

    ``ways``: ways to get a response (default: the benchmark's own). ``max_pixels`` bounds a clip's
    pixels as in ``ModelAdapter.encode``. ``relevance``: measure what each setup keeps of it.
    Raises ``BenchmarkError`` for a way it does not have and ``JournalError`` where the answer
    cannot be kept; whatever fails for single clips, setups or questions becomes a row.
    """
    ways = tuple(ways) or (benchmark.how,)
    check_ways(benchmark, ways)
    left = pending(items, setups, journal)
    rows = (
        (clip, row)
        for clip, num_frames, work in left
        for row in answers(
            model,
            benchmark,
            partial(benchmark.video, clip, num_frames),
            work,
            ways,
            max_pixels,
            relevance,
        )
    )
    weights = sum(weight.numel() for weight in model.hf_model.parameters())
    with one_thread_if_small(2.0 * weights * _QUESTION_TOKENS, model.device):
        keep(rows, total(items, setups), missing(left), journal, on_progress)


def total(items: Sequence[Item], setups: Sequence[Setup]) -> int:
    """Return the number of answers of a whole evaluation."""
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
    """Return clips and numbers of frames with missing answers, and the questions to ask."""
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
    """Yield a row per question and setup of one clip; if it cannot be read, all rows fail.

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
            yield from (_failure(item, setup, error) for item in items)
        return
    for setup, items in work:
        started = time.perf_counter()
        try:
            conversation = model.conversation(encoded, setup.method)
        except Exception as error:
            yield from (_failure(item, setup, error) for item in items)
            continue
        share_s = (time.perf_counter() - started) / len(items)
        for item in items:
            try:
                row = _answer(conversation, benchmark, item, setup, ways, evidence[item.id])
            except Exception as error:
                yield _failure(item, setup, error)
                continue
            row["seconds"] = round(row["seconds"] + share_s, 4)
            if found := maps.get(item.id):
                kept = found.kept_with_bounds(whole_record(conversation.records))
                row["relevance"] = [round(value, 6) for value in kept.values()]
            yield row


def relevance_maps(
    model: ModelAdapter,
    benchmark: Benchmark,
    encoded: Encoded,
    items: Mapping[str, Item],
    how: str,
) -> dict[str, Relevance]:
    """Relevance (gradient) of one clip's tokens for the model's own answers with all tokens."""
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
    row: AnswerRow = {
        "item": item.id,
        "setup": setup.key,
        "said": responses,
        "right": [benchmark.right(item, response) for response in responses.values()],
        "tokens": _tokens(conversation),
        "seconds": time.perf_counter() - started,
    }
    record = whole_record(conversation.records)
    if found := saturation(record):
        row["saturated"] = list(found)
    if evidence is not None and evidence.any():
        counts: Any = evidence_kept(record, evidence.cpu())
        row |= counts
    return row


def evidence_kept(record: Compression, evidence: Tensor) -> EvidenceCounts:
    """Count what a record, after its last stage, keeps of ``evidence``, bool [things, L].

    "evidence": tokens that show what is asked about: all, kept in place, represented in a kept
    row, and as many as the budget could have kept. "things" asked about: all that show, and those
    of which a token is kept. "moments", pairs of a thing and a unit: likewise.
    """
    tokens, kept = evidence.any(0), evidence & record.mask
    counts = [tokens, kept.any(0), tokens & (record.group >= 0)]
    numbers = [int(part.sum()) for part in counts]
    moments = [part.view(len(evidence), record.grid[0], -1).any(2) for part in (evidence, kept)]
    return {
        "evidence": [*numbers, min(numbers[0], record.num_kept)],
        "things": [int(part.any(1).sum()) for part in (evidence, kept)],
        "moments": [int(part.sum()) for part in moments],
    }


def _response(conversation: Conversation, benchmark: Benchmark, item: Item, how: str) -> str:
    prompt = benchmark.prompt(item)
    if how == "likelihood":
        scores = conversation.score(prompt, item.options)
        return item.options[max(range(len(scores)), key=scores.__getitem__)]
    return conversation.ask(prompt, Sampling(benchmark.max_new_tokens)).text


def _tokens(conversation: Conversation) -> list[float]:
    """Visual tokens of the clip, tokens that enter layer 0, and the mean over all layers."""
    total = len(conversation.encoded.tokens)
    depth = conversation.model.text_config.num_hidden_layers
    layers = visual_tokens_by_layer(conversation.records, total, depth)
    return [total, layers[0], round(sum(layers) / len(layers), 1)]


def _failure(item: Item, setup: Setup, error: Exception) -> AnswerRow:
    reason = f"{type(error).__name__}: {error}"[:500]
    return {"item": item.id, "setup": setup.key, "error": reason}
