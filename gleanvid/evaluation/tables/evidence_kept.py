"""The fraction of the evidence that is kept, and its correlation with right answers.

The evidence is the tokens that show what a question asks about. Fractions are averaged over
questions, so that a question about a large object counts no more than one about a small object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gleanvid.evaluation.run.journal import AnswerRow
from gleanvid.evaluation.tables.statistics import Estimate, clip_mean, correlation

Sample = tuple[str, float, Mapping[str, float]]  # clip, verdict, fraction kept in each measure


@dataclass(frozen=True)
class Evidence:
    """How much evidence is kept, in several measures, and how it correlates with right answers.

    Each measure is a fraction, computed for each question; ``means`` are over questions.

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
    total, kept, represented, most = row["evidence"]
    return {
        "kept": kept / total,
        "reachable": kept / most,
        "things": row["things"][1] / row["things"][0],
        "moments": row["moments"][1] / row["moments"][0],
        "represented": represented / total,
    }


def evidence(samples: Sequence[Sample]) -> Evidence | None:
    """Return the means over questions and the correlations; None if ``samples`` is empty.

    Means have a 95 % bootstrap interval over clips.
    """
    if not samples:
        return None
    clips, right, kept = zip(*samples, strict=True)
    values = {name: [own[name] for own in kept] for name in kept[0]}
    return Evidence(
        {name: clip_mean(found, clips) for name, found in values.items()},
        {name: correlation(found, right) for name, found in values.items()},
    )
