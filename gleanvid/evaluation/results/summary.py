"""From the rows of a journal to one result per setup: shares with intervals and paired tests.

A question that failed counts as wrong, so that no failure can raise a score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.benchmarks.base import Benchmark, Item
from gleanvid.evaluation.results.statistics import (
    Estimate,
    clip_mean,
    mcnemar,
    paired_difference,
    relative_accuracy,
    wilson,
)
from gleanvid.evaluation.run.setups import Setup

REFUSAL = "ValueError: "  # how compressors tell that a setting is out of their reach
Rows = Mapping[tuple[str, str], Mapping[str, Any]]  # (item id, setup key) -> row of the journal


@dataclass(frozen=True)
class Evidence:
    """Share of the tokens that show what is asked about, mean over questions."""

    kept: Estimate  # still in their own place
    represented: Estimate  # in some kept row


@dataclass(frozen=True)
class Result:
    """What one setup reached. Shares are in [0, 1].

    ``accuracy`` is the benchmark's own average; ``relative`` is it over that with all tokens
    (the first setup), ``difference`` it minus that. p values are of McNemar's exact test,
    two-sided, not adjusted for the number of tests: ``p_full`` against all tokens, ``p_gleanvid``
    against GleanVID at the same ratio and frames (None: not run, or itself).
    """

    setup: Setup
    how: str
    count: int
    failed: int
    first_error: str
    accuracy: Estimate
    groups: Mapping[str, tuple[Estimate, int]]  # with the number of questions
    relative: Estimate
    difference: Estimate
    p_full: float | None
    p_gleanvid: float | None
    evidence: Evidence | None
    tokens: float  # visual tokens of a clip
    tokens_kept: float  # entering layer 0
    tokens_mean: float  # mean over the layers
    seconds: float  # per question: compress, read, respond; encoding left out

    @property
    def refused(self) -> bool:
        """Whether the method itself cannot do what this setup asks for, on any clip."""
        return self.failed == self.count and self.first_error.startswith(REFUSAL)


def results(
    benchmark: Benchmark,
    items: Sequence[Item],
    setups: Sequence[Setup],
    rows: Rows,
    hows: Sequence[str] = (),
) -> list[Result]:
    """One result for every way to respond and every setup, the first of which is all tokens.

    Raises ``ValueError`` where a row is missing.
    """
    found: list[Result] = []
    for place, how in enumerate(tuple(hows) or (benchmark.how,)):
        comparison = _Comparison(benchmark, items, setups, rows, place)
        found += [comparison.result(setup, how) for setup in setups]
    return found


class _Comparison:
    """All setups on the same questions, by one way to respond."""

    def __init__(
        self,
        benchmark: Benchmark,
        items: Sequence[Item],
        setups: Sequence[Setup],
        rows: Rows,
        way: int,
    ) -> None:
        if missing := [i.id for i in items for s in setups if (i.id, s.key) not in rows]:
            raise ValueError(f"{len(missing)} answers are missing, the first for {missing[0]}")
        self.items, self.setups, self.rows, self.way = items, setups, rows, way
        self.columns = benchmark.columns
        self.clips = [item.clip for item in items]
        self._verdicts: dict[str, list[bool]] = {}  # setup key -> right, question by question
        self.weights = _weights(items) if benchmark.average == "groups" else None

    def result(self, setup: Setup, how: str) -> Result:
        right, full = self._right(setup), self._right(self.setups[0])
        rows = [self.rows[item.id, setup.key] for item in self.items]
        errors = [row["error"] for row in rows if "error" in row]
        good = [row for row in rows if "error" not in row]
        rival = self._gleanvid(setup)
        if self.weights is None:
            accuracy = wilson(sum(right), len(right))
        else:
            accuracy = clip_mean(right, self.clips, self.weights)
        tokens = [_mean([row["tokens"][part] for row in good]) for part in range(3)]
        return Result(
            setup=setup,
            how=how,
            count=len(rows),
            failed=len(errors),
            first_error=errors[0] if errors else "",
            accuracy=accuracy,
            groups=self._groups(right),
            relative=relative_accuracy(right, full, self.clips, self.weights),
            difference=paired_difference(right, full, self.clips, self.weights),
            p_full=None if isinstance(setup.method, FullTokens) else mcnemar(right, full),
            p_gleanvid=None if rival is None else mcnemar(right, self._right(rival)),
            evidence=self._evidence(setup),
            tokens=tokens[0],
            tokens_kept=tokens[1],
            tokens_mean=tokens[2],
            seconds=_mean([row["seconds"] for row in good]),
        )

    def _right(self, setup: Setup) -> list[bool]:
        if setup.key not in self._verdicts:
            found = (self.rows[item.id, setup.key] for item in self.items)
            right = ["error" not in row and bool(row["right"][self.way]) for row in found]
            self._verdicts[setup.key] = right
        return self._verdicts[setup.key]

    def _gleanvid(self, setup: Setup) -> Setup | None:
        """GleanVID at its defaults beside ``setup``, where it was run and is not that itself."""
        ours = Setup(GleanVID(retention_ratio=setup.retention_ratio), setup.num_frames).key
        found = [other for other in self.setups if other.key == ours]
        return found[0] if found and setup.key != ours else None

    def _groups(self, right: Sequence[bool]) -> dict[str, tuple[Estimate, int]]:
        verdicts: dict[str, list[bool]] = {name: [] for name in self.columns}
        for item, verdict in zip(self.items, right, strict=True):
            for name in item.groups:
                verdicts.setdefault(name, []).append(verdict)
        return {
            name: (wilson(sum(group), len(group)), len(group))
            for name, group in verdicts.items()
            if group
        }

    def _evidence(self, setup: Setup) -> Evidence | None:
        shares, clips = [], []
        for item in self.items:
            if counts := self.rows[item.id, setup.key].get("evidence"):
                shares.append((counts[1] / counts[0], counts[2] / counts[0]))
                clips.append(item.clip)
        if not shares:
            return None
        kept, represented = zip(*shares, strict=True)
        return Evidence(clip_mean(kept, clips), clip_mean(represented, clips))


def _weights(items: Sequence[Item]) -> list[float]:
    """Equal weight for every group (an item's first) and, in it, for every question."""
    sizes: dict[str, int] = {}
    for item in items:
        sizes[item.groups[0]] = sizes.get(item.groups[0], 0) + 1
    return [1 / (len(sizes) * sizes[item.groups[0]]) for item in items]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
