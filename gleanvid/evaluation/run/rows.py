"""Make the journal row of an answer: verdict, numbers of visual tokens, and kept evidence."""

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

Unanswered = Sequence[tuple[Setup, Sequence[Item]]]  # each setup, with its questions about one clip


def answer_row(
    benchmark: Benchmark,
    item: Item,
    setup: Setup,
    responses: Mapping[str, str],
    records: Mapping[int, Compression],
    size: tuple[int, int],
    evidence: Tensor | None,
) -> AnswerRow:
    """Return the journal row of one answered question, without its times.

    Args:
        benchmark: Judges the responses.
        item: The question.
        setup: The compressor and the number of frames.
        responses: The model's response in each response mode, such as "letter" or "text".
        records: Compression records by the layer of the language model before which they apply.
        size: Number of visual tokens of the clip, and number of layers of the language model.
        evidence: Which tokens show each object asked about, bool [objects, tokens of the clip];
            None if unknown.
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
    """Count how much of the evidence for an answer a compression record keeps.

    Args:
        record: The compression record.
        evidence: Which tokens show each object asked about, bool [objects, tokens of the clip].

    Returns:
        Lists of counts. "evidence" has four: the tokens that show an object asked about; those of
        them that are kept in place; those that are kept or merged into a kept one; and the most
        that this number of kept tokens could keep. "things": visible objects, and those of them
        with a kept token. "moments": the same for pairs of an object and a temporal unit.
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
