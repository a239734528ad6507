"""Summarises the rows of a journal as one result per setup.

A question that failed counts as wrong, so that no failure can raise a score. A random method is one
result: its verdict on a question is the fraction of its seeds that were right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.benchmarks.base import Benchmark, Item
from gleanvid.evaluation.run.journal import REFUSAL, AnswerRow
from gleanvid.evaluation.run.setups import Setup
from gleanvid.evaluation.tables.evidence_kept import (
    Evidence,
    Sample,
    evidence,
    fractions_kept,
)
from gleanvid.evaluation.tables.relevance_kept import RelevanceKept, relevance_kept
from gleanvid.evaluation.tables.statistics import (
    Estimate,
    Paired,
    clip_mean,
    mcnemar_or_none,
    paired,
    paired_difference,
    relative_accuracy,
    share,
    sign_flip,
)

Rows = Mapping[tuple[str, str], AnswerRow]  # (item id, setup key) -> row


@dataclass(frozen=True)
class Result:
    """The result of one setup. Fractions are in [0, 1].

    ``accuracy`` is the benchmark's own average, ``by_clip`` the same with an interval that takes
    clips as the observations. ``macro`` has the mean over groups by name, and that without the
    benchmark's ``macro_without``. ``relative`` is the accuracy over that with all tokens (the first
    setup), ``difference`` it minus that. ``p_full`` (McNemar) and ``p_full_clips`` (sign-flip) are
    against all tokens, two-sided, not adjusted; ``comparison`` is GleanVID at the same ratio and
    frames minus this (None: not run, or itself).
    """

    setup: Setup
    how: str
    count: int
    draws: int  # number of seeds over which a random method is averaged
    failed: int
    first_error: str
    accuracy: Estimate
    by_clip: Estimate
    macro: Mapping[str, Estimate]
    groups: Mapping[str, tuple[Estimate, int]]  # accuracy and number of questions by group
    relative: Estimate
    difference: Estimate
    p_full: float | None
    p_full_clips: float | None
    comparison: Paired | None
    evidence: Evidence | None
    relevance: RelevanceKept | None
    tokens: float  # visual tokens of a clip
    tokens_kept: float  # entering layer 0
    tokens_mean: float  # mean over the layers
    seconds: float  # per question: compress, read, respond; encoding left out
    saturated: float = 0.0  # fraction of saturated units

    @property
    def blank(self) -> bool:
        """True if every question failed."""
        return self.failed == self.count * self.draws

    @property
    def refused(self) -> bool:
        """True if the method refused this setup on every clip."""
        return self.blank and self.first_error.startswith(REFUSAL)


def results(
    benchmark: Benchmark,
    items: Sequence[Item],
    setups: Sequence[Setup],
    rows: Rows,
    ways: Sequence[str] = (),
) -> list[Result]:
    """Return one result per way to respond and setup; the first setup is all tokens.

    Raises ``ValueError`` where a row is missing.
    """
    found: list[Result] = []
    for place, how in enumerate(tuple(ways) or (benchmark.how,)):
        answers = _Answers(benchmark, items, setups, rows, place)
        found += [answers.result(setup, how) for setup in setups]
    return found


def evidence_of_all(
    benchmark: Benchmark,
    items: Sequence[Item],
    setups: Sequence[Setup],
    rows: Rows,
    way: int = 0,
) -> Evidence | None:
    """Evidence over all questions and all setups except all tokens, by one way to respond."""
    answers = _Answers(benchmark, items, setups, rows, way)
    less = [setup for setup in setups if not isinstance(setup.method, FullTokens)]
    return evidence([one for setup in less for one in answers.samples(setup)])


class _Answers:
    """All setups on the same questions, by one way to respond."""

    def __init__(
        self,
        benchmark: Benchmark,
        items: Sequence[Item],
        setups: Sequence[Setup],
        rows: Rows,
        way: int,
    ) -> None:
        keys = [draw.key for setup in setups for draw in setup.draws]
        if missing := [item.id for item in items for key in keys if (item.id, key) not in rows]:
            raise ValueError(f"{len(missing)} answers are missing, the first for {missing[0]}")
        self.items, self.setups, self.rows, self.way = items, setups, rows, way
        self.columns = benchmark.columns
        self.clips = [item.clip for item in items]
        self._verdicts: dict[str, list[float]] = {}  # setup key -> verdict on each question
        self.weights = group_weights(items) if benchmark.average == "groups" else None
        self.macros: dict[str, list[float]] = {}
        if apart := benchmark.macro_without:
            self.macros = {
                "macro": group_weights(items),
                f"macro without {apart}": group_weights(items, apart),
            }

    def result(self, setup: Setup, how: str) -> Result:
        right, full = self._right(setup), self._right(self.setups[0])
        rows = [self.rows[item.id, draw.key] for draw in setup.draws for item in self.items]
        errors = [row["error"] for row in rows if "error" in row]
        good = [row for row in rows if "error" not in row]
        saturated = [row["saturated"] for row in good if "saturated" in row]
        whole = isinstance(setup.method, FullTokens)
        differences = [a - b for a, b in zip(right, full, strict=True)]
        tokens = [_mean([row["tokens"][part] for row in good]) for part in range(3)]
        by_clip = clip_mean(right, self.clips, self.weights)
        return Result(
            setup=setup,
            how=how,
            count=len(self.items),
            draws=len(setup.draws),
            failed=len(errors),
            first_error=errors[0] if errors else "",
            accuracy=by_clip if self.weights else share(right, self.clips),
            by_clip=by_clip,
            macro={name: clip_mean(right, self.clips, own) for name, own in self.macros.items()},
            groups=self._groups(right),
            relative=relative_accuracy(right, full, self.clips, self.weights),
            difference=paired_difference(right, full, self.clips, self.weights),
            p_full=None if whole else mcnemar_or_none(right, full),
            p_full_clips=None if whole else sign_flip(differences, self.clips, self.weights),
            comparison=self._comparison(setup),
            evidence=evidence(self.samples(setup)),
            relevance=self._relevance(setup),
            tokens=tokens[0],
            tokens_kept=tokens[1],
            tokens_mean=tokens[2],
            seconds=_mean([row["seconds"] for row in good]),
            saturated=_mean([units / of for units, of in saturated]),
        )

    def samples(self, setup: Setup) -> list[Sample]:
        """Return a sample for every question and seed with evidence."""
        pairs = [(item, draw.key) for draw in setup.draws for item in self.items]
        found = [(item.clip, self.rows[item.id, key]) for item, key in pairs]
        return [
            (clip, self._right_in(row), fractions_kept(row))
            for clip, row in found
            if "evidence" in row
        ]

    def _relevance(self, setup: Setup) -> RelevanceKept | None:
        """Relevance kept over questions and seeds; None where it was not measured."""
        pairs = [(item.clip, self.rows[item.id, d.key]) for d in setup.draws for item in self.items]
        known = [(clip, row) for clip, row in pairs if "relevance" in row]
        return relevance_kept(
            [clip for clip, _ in known],
            [self._right_in(row) for _, row in known],
            [row["relevance"] for _, row in known],
        )

    def _right(self, setup: Setup) -> list[float]:
        """Return for every question the fraction of seeds with a right answer."""
        if setup.key not in self._verdicts:
            keys = [draw.key for draw in setup.draws]
            self._verdicts[setup.key] = [
                _mean([self._right_in(self.rows[item.id, key]) for key in keys])
                for item in self.items
            ]
        return self._verdicts[setup.key]

    def _right_in(self, row: AnswerRow) -> float:
        return float("error" not in row and bool(row["right"][self.way]))

    def _comparison(self, setup: Setup) -> Paired | None:
        """Compare default GleanVID with ``setup``; None if it was not run or is ``setup``."""
        ours = Setup(GleanVID(retention_ratio=setup.retention_ratio), setup.num_frames)
        if setup.key == ours.key or ours.key not in [other.key for other in self.setups]:
            return None
        verdicts = self._right(ours), self._right(setup)
        return paired(*verdicts, self.clips, self.weights, self.macros)

    def _groups(self, right: Sequence[float]) -> dict[str, tuple[Estimate, int]]:
        verdicts: dict[str, list[tuple[float, str]]] = {name: [] for name in self.columns}
        for item, verdict in zip(self.items, right, strict=True):
            for name in item.groups:
                verdicts.setdefault(name, []).append((verdict, item.clip))
        return {
            name: (share(*zip(*group, strict=True)), len(group))
            for name, group in verdicts.items()
            if group
        }


def group_weights(items: Sequence[Item], without: str = "") -> list[float]:
    """Return weights with which the mean over questions is the mean over groups.

    An item counts in its first group; ``without`` leaves one group out.
    """
    groups = [item.groups[0] for item in items]
    sizes = {name: groups.count(name) for name in dict.fromkeys(groups) if name != without}
    return [1 / (len(sizes) * sizes[name]) if name in sizes else 0.0 for name in groups]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
