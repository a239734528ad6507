"""Parts of the journal row of an answer: kept evidence, errors, and responses to no option."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gleanvid.evaluation.benchmarks.base import Benchmark, Item
from gleanvid.evaluation.run.journal import AnswerRow, EvidenceCounts
from gleanvid.evaluation.run.setups import Setup
from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor


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


def unread(
    benchmark: Benchmark, items: Sequence[Item], rows: Iterable[AnswerRow], how: str
) -> tuple[int, int]:
    """Return how many responses to ``items`` name none of the options, and how many there are.

    ``rows`` may be about further questions. ``how``: the response mode.
    """
    asked = {item.id: item for item in items}
    said = [
        (item, row["said"][how])
        for row in rows
        if "said" in row and (item := asked.get(row["item"])) is not None
    ]
    return sum(not benchmark.names_an_option(*pair) for pair in said), len(said)
