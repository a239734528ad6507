"""The fraction of the evidence that is kept, and its correlation with right answers.

The evidence is the tokens that show what a question asks about. Fractions are averaged over
questions, so that a question about a large object counts no more than one about a small object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gleanvid.evaluation.run.journal import AnswerRow
from gleanvid.evaluation.tables.correlations import correlation
from gleanvid.evaluation.tables.statistics import Estimate, clip_mean

MEASURES = ("kept", "reachable", "things", "moments", "represented")
Sample = tuple[str, float, Mapping[str, float]]  # clip, verdict, fraction kept in each measure


@dataclass(frozen=True)
class Evidence:
    """How much evidence is kept, in several measures, and how it correlates with right answers.

    Each measure is a fraction, computed for each question; ``means`` are over questions. Older
    journals do not have all measures.

    - "kept": evidence tokens that are kept in place;
    - "represented": evidence tokens that are kept or merged into a kept token;
    - "reachable": "kept", divided by the most that this number of kept tokens could reach;
    - "things": visible objects asked about with at least one kept evidence token;
    - "moments": the same for pairs of an object and a temporal unit.
    """

    means: Mapping[str, Estimate]
    correlations: Mapping[str, float]

    @property
    def kept(self) -> Estimate:
        return self.means["kept"]

    @property
    def represented(self) -> Estimate:
        return self.means["represented"]


def fractions_kept(row: AnswerRow) -> dict[str, float]:
    """Return the fraction of one question's evidence that is kept, in each measure."""
    total, kept, represented, *most = row["evidence"]
    shares = {"kept": kept / total, "represented": represented / total}
    if most:
        shares["reachable"] = kept / most[0]
    pairs = {"things": row.get("things"), "moments": row.get("moments")}
    return shares | {name: pair[1] / pair[0] for name, pair in pairs.items() if pair}


def evidence(samples: Sequence[Sample]) -> Evidence | None:
    """Return the means over questions and the correlations; None if ``samples`` is empty.

    Means have a 95 % bootstrap interval over clips. A measure that some sample lacks is left out.
    """
    clips, right = [clip for clip, _, _ in samples], [verdict for _, verdict, _ in samples]
    values = {
        name: [kept[name] for _, _, kept in samples]
        for name in MEASURES
        if samples and all(name in kept for _, _, kept in samples)
    }
    if not values:
        return None
    return Evidence(
        {name: clip_mean(found, clips) for name, found in values.items()},
        {name: correlation(found, right) for name, found in values.items()},
    )
