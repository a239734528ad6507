"""Summarises the rows of a journal as one result per setup.

A question that failed counts as wrong, so that no failure can raise a score. A method that chooses
tokens at random has one result over all its seeds: the verdict on a question is the fraction of
seeds with a right answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from gleanvid.compressors import method_from
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.evaluation.benchmarks.base import Benchmark, Item
from gleanvid.evaluation.run.journal import REFUSAL, AnswerRow
from gleanvid.evaluation.run.setups import Setup
from gleanvid.evaluation.tables.evidence_kept import Evidence, Sample, evidence, fractions_kept
from gleanvid.evaluation.tables.relevance_kept import RelevanceKept, relevance_kept
from gleanvid.evaluation.tables.statistics import (
    Estimate,
    Groups,
    Paired,
    clip_mean,
    paired,
    paired_difference,
    relative_accuracy,
    share,
    sign_flip,
)

Rows = Mapping[tuple[str, str], AnswerRow]  # journal row by (question's id, ``Setup.key``)
REFERENCE = "gleanvid"  # by default, the method that the others are compared with
_FEWEST = 15  # in a macro-average, all groups with fewer questions are merged into one
_POOLED = "other"


@dataclass(frozen=True)
class Result:
    """The result of one setup in one response mode, ``how``. Fractions are in [0, 1].

    ``accuracy`` is the mean over questions. ``by_clip`` is the same, with a bootstrap interval over
    clips. ``macro``: the macro-averages, see :func:`macros_of`. ``relative`` and
    ``difference``: the accuracy divided by, and minus, that with all tokens (the first setup).
    ``p_full_clips``: two-sided p value of the sign-flip test against all tokens, not adjusted.

    ``comparison``: the accuracy of the reference method (GleanVID unless another was named), at the
    same ratio and number of frames, minus that of this setup. It is None if the reference was not
    run, or if it is this setup.
    """

    setup: Setup
    how: str
    count: int
    draws: int  # number of seeds that were run: 1 unless the method is random
    failed: int
    first_error: str
    accuracy: Estimate
    by_clip: Estimate
    macro: Mapping[str, Estimate]
    groups: Mapping[str, tuple[Estimate, int]]  # accuracy and number of questions of each group
    relative: Estimate
    difference: Estimate
    p_full_clips: float | None
    comparison: Paired | None
    evidence: Evidence | None
    relevance: RelevanceKept | None
    tokens: float  # number of visual tokens of a clip
    tokens_kept: float  # number of visual tokens that enter layer 0
    tokens_mean: float  # number of visual tokens that enter a layer, mean over the layers
    seconds: float  # mean seconds per question to compress, prefill and respond, without encoding
    # fraction of the temporal units whose tokens all lie in the span of earlier kept tokens
    saturated: float = 0.0

    @property
    def blank(self) -> bool:
        """True if every question of the setup failed."""
        return self.failed == self.count * self.draws

    @property
    def refused(self) -> bool:
        """True if every question failed because the compressor cannot run with these settings."""
        return self.blank and self.first_error.startswith(REFUSAL)


def results(
    benchmark: Benchmark,
    items: Sequence[Item],
    setups: Sequence[Setup],
    rows: Rows,
    ways: Sequence[str] = (),
    reference: str = REFERENCE,
) -> list[Result]:
    """Return one result for each response mode (``ways``) and setup.

    The first of ``setups`` must keep all tokens. ``reference``: the method that the others are
    compared with, with its settings in brackets. Raises ``ValueError`` if a question has no row.
    """
    found: list[Result] = []
    for place, how in enumerate(tuple(ways) or (benchmark.how,)):
        answers = _Answers(benchmark, items, setups, rows, place, reference)
        found += [answers.result(setup, how) for setup in setups]
    return found


class _Answers:
    """The answers of all setups to the same questions, in response mode number ``way``."""

    def __init__(
        self,
        benchmark: Benchmark,
        items: Sequence[Item],
        setups: Sequence[Setup],
        rows: Rows,
        way: int,
        reference: str,
    ) -> None:
        keys = [draw.key for setup in setups for draw in setup.draws]
        if missing := [item.id for item in items for key in keys if (item.id, key) not in rows]:
            raise ValueError(f"{len(missing)} answers are missing, the first for {missing[0]}")
        self.items, self.setups, self.rows, self.way = items, setups, rows, way
        self.reference = reference
        self.columns = benchmark.columns
        self.clips = [item.clip for item in items]
        self._verdicts: dict[str, list[float]] = {}  # verdicts on all questions by ``Setup.key``
        self.macros = macros_of(benchmark, items)

    def result(self, setup: Setup, how: str) -> Result:
        right, full = self._right(setup), self._right(self.setups[0])
        rows = [self.rows[item.id, draw.key] for draw in setup.draws for item in self.items]
        errors = [row["error"] for row in rows if "error" in row]
        good = [row for row in rows if "error" not in row]
        saturated = [row["saturated"] for row in good if "saturated" in row]
        whole = isinstance(setup.method, FullTokens)
        differences = [a - b for a, b in zip(right, full, strict=True)]
        tokens = [_mean([row["tokens"][part] for row in good]) for part in range(3)]
        by_clip = clip_mean(right, self.clips)
        return Result(
            setup=setup,
            how=how,
            count=len(self.items),
            draws=len(setup.draws),
            failed=len(errors),
            first_error=errors[0] if errors else "",
            accuracy=share(right, self.clips),
            by_clip=by_clip,
            macro={name: clip_mean(right, self.clips, own) for name, own in self.macros.items()},
            groups=self._by_group(right),
            relative=relative_accuracy(right, full, self.clips),
            difference=paired_difference(right, full, self.clips),
            p_full_clips=None if whole else sign_flip(differences, self.clips),
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
        """Return the evidence kept and verdict for each seed and each question with evidence."""
        pairs = [(item, draw.key) for draw in setup.draws for item in self.items]
        found = [(item.clip, self.rows[item.id, key]) for item, key in pairs]
        return [
            (clip, self._right_in(row), fractions_kept(row))
            for clip, row in found
            if "evidence" in row
        ]

    def _relevance(self, setup: Setup) -> RelevanceKept | None:
        """Return the means, over questions and seeds, of relevance kept; None if not measured."""
        pairs = [(item.clip, self.rows[item.id, d.key]) for d in setup.draws for item in self.items]
        known = [(clip, row) for clip, row in pairs if "relevance" in row]
        return relevance_kept(
            [clip for clip, _ in known],
            [self._right_in(row) for _, row in known],
            [row["relevance"] for _, row in known],
        )

    def _right(self, setup: Setup) -> list[float]:
        """Return the verdict on every question: the fraction of seeds with a right answer."""
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
        """Compare the reference with ``setup``; None if it was not run or is ``setup``."""
        ours = Setup(method_from(self.reference, setup.retention_ratio), setup.num_frames)
        if setup.key == ours.key or ours.key not in [other.key for other in self.setups]:
            return None
        verdicts = self._right(ours), self._right(setup)
        return paired(*verdicts, self.clips, self.macros)

    def _by_group(self, right: Sequence[float]) -> dict[str, tuple[Estimate, int]]:
        verdicts: dict[str, list[tuple[float, str]]] = {name: [] for name in self.columns}
        for item, verdict in zip(self.items, right, strict=True):
            for name in item.groups:
                verdicts.setdefault(name, []).append((verdict, item.clip))
        return {
            name: (share(*zip(*group, strict=True)), len(group))
            for name, group in verdicts.items()
            if group
        }


def macros_of(benchmark: Benchmark, items: Sequence[Item]) -> dict[str, Groups]:
    """Return, for each macro-average of a benchmark by name, the group of every question.

    A question that does not count has the group None. A macro-average is the mean over groups of
    the mean within each group. "macro" has all groups. "macro without ..." leaves out the group
    ``benchmark.macro_without``. "macro of hard kinds" has only the groups in ``benchmark.hard``.
    Groups with fewer than 15 questions are merged into one, so that a few questions do not weigh
    as much as a large group. A macro-average without any question is left out. There are none at
    all if ``benchmark.macro_without`` is empty.
    """
    names, apart = {item.groups[0] for item in items if item.groups}, benchmark.macro_without
    if not apart:
        return {}
    counted = {
        "macro": names,
        f"macro without {apart}": names - {apart},
        "macro of hard kinds": names & {*benchmark.hard},
    }
    return {name: _pooled(items, groups) for name, groups in counted.items() if groups}


def _pooled(items: Sequence[Item], counted: Container[str]) -> list[str | None]:
    """Return the group of every question, with small groups merged into one.

    A question whose group is not in ``counted`` gets None.
    """
    groups = [item.groups[0] for item in items]
    sizes = Counter(groups)
    labels = {name: name if sizes[name] >= _FEWEST else _POOLED for name in groups}
    return [labels[name] if name in counted else None for name in groups]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
