"""Rows of answers: the verdict, the tokens that each layer saw, and the evidence that was kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gleanvid.cost import visual_tokens_by_layer
from gleanvid.evaluation.benchmarks.base import Benchmark, Item
from gleanvid.evaluation.run.journal import AnswerRow, EvidenceCounts
from gleanvid.evaluation.run.setups import Setup
from gleanvid.metrics.saturation import saturation
from gleanvid.ops.records import whole_record
from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor

Unanswered = Sequence[tuple[Setup, Sequence[Item]]]  # questions about one clip, by setup


def answer_row(
    benchmark: Benchmark,
    item: Item,
    setup: Setup,
    responses: Mapping[str, str],
    records: Mapping[int, Compression],
    size: tuple[int, int],
    evidence: Tensor | None,
) -> AnswerRow:
    """Return the journal row of one answered question, without times.

    ``responses``: way to respond -> response. ``records``: layer -> compression record. ``size``:
    number of visual tokens of the clip, and number of layers of the language model.
    """
    layers = visual_tokens_by_layer(records, *size)
    row: AnswerRow = {
        "item": item.id,
        "setup": setup.key,
        "said": dict(responses),
        "right": [benchmark.right(item, response) for response in responses.values()],
        "tokens": [size[0], layers[0], round(sum(layers) / len(layers), 1)],
    }
    record = whole_record(records)
    if found := saturation(record):
        row["saturated"] = list(found)
    if evidence is not None and evidence.any():
        counts: Any = evidence_kept(record, evidence.cpu())
        row |= counts
    return row


def evidence_kept(record: Compression, evidence: Tensor) -> EvidenceCounts:
    """Count what a record keeps of ``evidence``, bool [things, L]: tokens that show each thing.

    Returns lists of counts. "evidence": tokens that show a thing asked about; of these, the tokens
    kept in place, and the tokens kept or merged into a kept one; and the most that could be kept
    with this number of kept tokens. "things": visible things, and those of them with a kept token.
    "moments": the same for pairs of a thing and a temporal unit.
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


def failure(item: Item, setup: Setup, error: Exception) -> AnswerRow:
    reason = f"{type(error).__name__}: {error}"[:500]
    return {"item": item.id, "setup": setup.key, "error": reason}
