"""The diagnostics of a record that need the clip's features, computed once and stored with it.

A :class:`~gleanvid.run.Run` holds no features: they are large, and a saved run would be hundreds
of megabytes. So the numbers are taken while the encoded clip is at hand and stored in the
record's ``trace``, from where plots read them and with which they are saved and loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import torch

from gleanvid.metrics.diversity import effective_dimension, effective_rank_by_unit
from gleanvid.metrics.span import (
    coverage_error,
    energy_outside_span,
    kept_span,
    later_residual_energy,
    residual_energy,
    residual_energy_by_unit,
)
from gleanvid.run import Run
from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor

_PREFIX = "diagnostics/"
ROUNDING = 1e-6  # share of energy: where the kept rows span every direction, float32 leaves 2e-7
DRAWS = 3


@dataclass(frozen=True)
class RandomKeeping:
    """Numbers of tokens kept at random, as means over a few draws: a yardstick for a method.

    A rank or an error depends first of all on how many tokens are kept; as a multiple of random
    keeping's at the same budget it tells the choice alone.
    """

    effective_rank: float
    coverage_error: float


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Numbers of one record; definitions at the functions of the same names."""

    effective_rank: float
    residual_energy: float  # share of energy, cross-frame
    later_residual_energy: float  # the same without the first unit
    coverage_error: float  # share of energy
    energy_outside_span: float  # share of energy
    effective_rank_by_unit: Tensor  # float64 [T]
    residual_energy_by_unit: Tensor  # float64 [T]
    basis_rank: Tensor  # int64 [T]
    random_effective_rank: float  # of as many tokens kept at random
    random_coverage_error: float

    @property
    def rank_vs_random(self) -> float:
        """Effective rank as a multiple of random keeping's: above 1 it is wider."""
        return self.effective_rank / self.random_effective_rank

    @property
    def coverage_vs_random(self) -> float:
        """Coverage error as a multiple of random keeping's: below 1 less is missed.

        NaN where random keeping misses nothing either, as it does once it spans every direction.
        """
        missed = self.random_coverage_error
        return self.coverage_error / missed if missed > ROUNDING else float("nan")

    def summary(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON."""
        return {
            name: value.tolist() if isinstance(value, torch.Tensor) else value
            for name, value in asdict(self).items()
        }


def diagnose(
    debiased: Tensor, record: Compression, random: RandomKeeping | None = None
) -> Diagnostics:
    """Measure a record against the clip's debiased tokens [L, D] (:func:`debiased`).

    ``random``: that of as many tokens, where it is known already.
    """
    span = kept_span(debiased, record)
    random = random or random_keeping(debiased, record.grid, record.num_kept)
    return Diagnostics(
        effective_dimension(debiased, record),
        residual_energy(debiased, record, span),
        later_residual_energy(debiased, record, span),
        coverage_error(debiased, record, span),
        energy_outside_span(debiased, record, span),
        effective_rank_by_unit(debiased, record),
        residual_energy_by_unit(debiased, record, span),
        span.rank,
        random.effective_rank,
        random.coverage_error,
    )


def random_keeping(
    debiased: Tensor, grid: tuple[int, int, int], kept: int, draws: int = DRAWS
) -> RandomKeeping:
    """``kept`` of the debiased tokens [L, D], every set of them as likely as any other."""
    records = [_drawn(len(debiased), grid, kept, seed) for seed in range(draws)]
    records = [record.to(debiased.device) for record in records]
    return RandomKeeping(
        sum(effective_dimension(debiased, record) for record in records) / draws,
        sum(coverage_error(debiased, record) for record in records) / draws,
    )


def _drawn(total: int, grid: tuple[int, int, int], kept: int, seed: int) -> Compression:
    order = torch.randperm(total, generator=torch.Generator().manual_seed(seed))
    return Compression.pruned(order[:kept].sort().values, grid, num_tokens=total)


def with_diagnostics(run: Run, found: Diagnostics) -> Run:
    """The same run with the numbers in the trace of its first record, saved along with it."""
    layer = min(run.by_layer)
    record = run.by_layer[layer]
    values = {field.name: getattr(found, field.name) for field in fields(found)}
    added = {_PREFIX + name: _as_tensor(value) for name, value in values.items()}
    record = replace(record, trace=dict(record.trace) | added)
    return replace(run, by_layer=dict(run.by_layer) | {layer: record})


def _as_tensor(value: float | Tensor) -> Tensor:
    return value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=torch.float64)


def diagnostics_of(run: Run) -> Diagnostics | None:
    """The numbers kept with a run, or None where none were taken."""
    trace: Mapping[str, Tensor] = run.compression.trace
    names = [field.name for field in fields(Diagnostics)]
    if any(_PREFIX + name not in trace for name in names):
        return None
    stored = {name: trace[_PREFIX + name] for name in names}
    values: dict[str, Any] = {n: float(v) if v.ndim == 0 else v for n, v in stored.items()}
    return Diagnostics(**values)
