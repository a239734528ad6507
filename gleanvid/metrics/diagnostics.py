"""Diagnostics that need the clip's features, computed once and stored with the run.

A :class:`~gleanvid.run.Run` does not hold features, which can take hundreds of megabytes. So the
diagnostics are computed while the encoded clip is in memory, and stored in the record's ``trace``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import torch

from gleanvid.metrics.diversity import (
    effective_dimension,
    effective_rank_by_unit,
    effective_rank_so_far,
)
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
# energy fractions up to this count as 0; rounding of float32 leaves 2e-7 where the true value is 0
ROUNDING = 1e-6
DRAWS = 3


@dataclass(frozen=True)
class RandomKeeping:
    """Metrics of random token sets of one size, averaged: the baseline for a method's metrics.

    Effective rank and coverage error depend mostly on the number of kept tokens. Divided by those
    of random sets of the same size, they measure which tokens were chosen.
    """

    effective_rank: float
    coverage_error: float


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Metrics of one compression record. Each is defined by the function of the same name.

    Energies are squared norms, as fractions of the token's own. The energy outside a span is that
    of the token minus its projection on the span.
    """

    effective_rank: float  # of all kept tokens of the clip
    residual_energy: float  # energy of kept tokens outside the span of earlier units' kept tokens
    later_residual_energy: float  # ``residual_energy`` without the first unit that keeps tokens
    coverage_error: float  # energy of dropped tokens outside the span of the kept ones
    energy_outside_span: float  # energy of a kept token outside the span of all kept before it
    effective_rank_by_unit: Tensor  # float64 [T]: of the kept tokens of each unit alone
    effective_rank_so_far: Tensor  # float64 [T]: of all kept tokens up to each unit's end
    residual_energy_by_unit: Tensor  # float64 [T]
    basis_rank: Tensor  # int64 [T]: dimension of the kept tokens' span after each unit
    random_effective_rank: float  # mean over random sets of as many tokens as were kept
    random_coverage_error: float

    @property
    def rank_vs_random(self) -> float:
        """Effective rank divided by that of random sets; above 1 if the method is more diverse."""
        return self.effective_rank / self.random_effective_rank

    @property
    def coverage_vs_random(self) -> float:
        """Coverage error divided by that of random sets. Below 1 the method loses less.

        It is NaN if random sets lose nothing, which happens once they span every direction.
        """
        missed = self.random_coverage_error
        return self.coverage_error / missed if missed > ROUNDING else float("nan")

    def summary(self) -> dict[str, Any]:
        """Return the metrics as numbers and lists, ready for JSON."""
        return {
            name: value.tolist() if isinstance(value, torch.Tensor) else value
            for name, value in asdict(self).items()
        }


def diagnose(
    debiased: Tensor, record: Compression, random: RandomKeeping | None = None
) -> Diagnostics:
    """Compute the diagnostics of a record.

    Args:
        debiased: tokens [L, D] of the clip, see :func:`gleanvid.metrics.debiased`.
        record: compression record: which tokens were kept or merged.
        random: result of :func:`random_keeping` for the same number of tokens, if already computed.
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
        effective_rank_so_far(debiased, record),
        residual_energy_by_unit(debiased, record, span),
        span.rank,
        random.effective_rank,
        random.coverage_error,
    )


def random_keeping(
    debiased: Tensor, grid: tuple[int, int, int], kept: int, draws: int = DRAWS
) -> RandomKeeping:
    """Compute metrics of tokens of a clip that are chosen uniformly at random.

    Args:
        debiased: tokens [L, D] of the clip, see :func:`gleanvid.metrics.debiased`.
        grid: (T, rows, columns) of the clip.
        kept: number of tokens to choose.
        draws: number of random sets over which the metrics are averaged.
    """
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
    """Return a copy of a run with diagnostics, stored in ``trace`` of its first stage's record."""
    layer = min(run.by_layer)
    record = run.by_layer[layer]
    values = {field.name: getattr(found, field.name) for field in fields(found)}
    added = {_PREFIX + name: _as_tensor(value) for name, value in values.items()}
    record = replace(record, trace=dict(record.trace) | added)
    return replace(run, by_layer=dict(run.by_layer) | {layer: record})


def _as_tensor(value: float | Tensor) -> Tensor:
    return value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=torch.float64)


def diagnostics_of(run: Run) -> Diagnostics | None:
    """Return the diagnostics stored with a run, or None."""
    trace: Mapping[str, Tensor] = run.compression.trace
    names = [field.name for field in fields(Diagnostics)]
    if any(_PREFIX + name not in trace for name in names):
        return None
    stored = {name: trace[_PREFIX + name] for name in names}
    values: dict[str, Any] = {n: float(v) if v.ndim == 0 else v for n, v in stored.items()}
    return Diagnostics(**values)
