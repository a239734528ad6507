"""The share of the evidence that a setup keeps, and its correlation with right answers.

Every share is taken question by question and then averaged, so a question about a large thing
counts no more than one about a small one. Nothing is pooled over questions.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from gleanvid.evaluation.run.rows import AnswerRow
from gleanvid.evaluation.tables.statistics import Estimate, clip_mean, correlation


@dataclass(frozen=True)
class Sample:
    """One question under one setup: what was kept of its evidence, and whether it was right.

    ``kept``: share of the evidence tokens in their own place; ``represented``: in some kept row;
    ``reachable``: ``kept`` over the largest share that as many tokens could be; ``things``: share
    of the things asked about of which a token is kept; ``moments``: the same of pairs of a thing
    and a unit. The last three are None in journals from before they were counted.
    """

    clip: Hashable
    right: float
    kept: float
    represented: float
    reachable: float | None = None
    things: float | None = None
    moments: float | None = None


MEASURES = ("kept", "reachable", "things", "moments", "represented")


@dataclass(frozen=True)
class Evidence:
    """Means over questions by measure, and the correlation of each with being right."""

    means: Mapping[str, Estimate]
    correlations: Mapping[str, float]

    @property
    def kept(self) -> Estimate:
        return self.means["kept"]

    @property
    def represented(self) -> Estimate:
        return self.means["represented"]


def sample(clip: Hashable, right: float, row: AnswerRow) -> Sample | None:
    """What a row of the journal says; None where it knows of no evidence."""
    counts = row.get("evidence")
    if not counts:
        return None
    total, kept, represented, *most = counts
    return Sample(
        clip,
        right,
        kept / total,
        represented / total,
        kept / most[0] if most else None,
        _share(row.get("things")),
        _share(row.get("moments")),
    )


def _share(pair: Sequence[int] | None) -> float | None:
    """Of (all, kept)."""
    return pair[1] / pair[0] if pair else None


def evidence(samples: Sequence[Sample]) -> Evidence | None:
    """Means with intervals by clip, and correlations; None without samples."""
    means: dict[str, Estimate] = {}
    correlations: dict[str, float] = {}
    clips, right = [one.clip for one in samples], [one.right for one in samples]
    for name in MEASURES:
        values = [getattr(one, name) for one in samples]
        if values and None not in values:
            means[name] = clip_mean(values, clips)
            correlations[name] = correlation(values, right)
    return Evidence(means, correlations) if means else None
