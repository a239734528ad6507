"""The evidence that a setup keeps, and its correlation with right answers.

Fractions are averaged over questions, so that a question about a large thing counts no more than
one about a small thing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gleanvid.evaluation.run.journal import AnswerRow
from gleanvid.evaluation.tables.correlations import correlation
from gleanvid.evaluation.tables.statistics import Estimate, clip_mean

MEASURES = ("kept", "reachable", "things", "moments", "represented")
Sample = tuple[str, float, Mapping[str, float]]  # clip, verdict, fraction kept by measure


@dataclass(frozen=True)
class Evidence:
    """Means over questions by measure, and the correlation of each with being right.

    Each measure is a fraction of a question's evidence, the tokens that show the answer. "kept":
    tokens kept in their own place; "represented": tokens kept or merged into a kept token;
    "reachable": "kept" divided by its largest possible value for that number of kept tokens;
    "things": things asked about with at least one kept token; "moments": the same for pairs of a
    thing and a unit. Older journals do not have all measures.
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
    """Return the fractions of a question's evidence that a setup kept, by measure."""
    total, kept, represented, *most = row["evidence"]
    shares = {"kept": kept / total, "represented": represented / total}
    if most:
        shares["reachable"] = kept / most[0]
    pairs = {"things": row.get("things"), "moments": row.get("moments")}
    return shares | {name: pair[1] / pair[0] for name, pair in pairs.items() if pair}


def evidence(samples: Sequence[Sample]) -> Evidence | None:
    """Return means with intervals over clips, and correlations; None without samples."""
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
