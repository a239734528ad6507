"""Every diagnostic of one record that needs the clip's features, taken once and kept with it.

A :class:`~gleanvid.run.Run` holds no features: they are large, and a saved run would be hundreds
of megabytes. So the numbers are taken while the encoded clip is at hand and stored in the
record's ``trace``, from where plots read them and with which they are saved and loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import torch

from gleanvid.metrics.complement import (
    energy_outside_span,
    residual_energy,
    residual_energy_by_unit,
)
from gleanvid.metrics.coverage import coverage_error
from gleanvid.metrics.diversity import effective_dimension, effective_rank_by_unit
from gleanvid.metrics.span import kept_span
from gleanvid.run import Run
from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor

_PREFIX = "diagnostics/"


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Numbers of one record; definitions at the functions of the same names."""

    effective_rank: float
    residual_energy: float  # share of energy, cross-frame
    coverage_error: float  # share of energy
    energy_outside_span: float  # share of energy
    effective_rank_by_unit: Tensor  # float64 [T]
    residual_energy_by_unit: Tensor  # float64 [T]
    basis_rank: Tensor  # int64 [T]

    def summary(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON."""
        return {
            name: value.tolist() if isinstance(value, torch.Tensor) else value
            for name, value in asdict(self).items()
        }


def diagnose(debiased: Tensor, record: Compression) -> Diagnostics:
    """Measure a record against the clip's debiased tokens [L, D] (:func:`debiased`)."""
    span = kept_span(debiased, record)
    return Diagnostics(
        effective_dimension(debiased, record),
        residual_energy(debiased, record, span),
        coverage_error(debiased, record, span),
        energy_outside_span(debiased, record, span),
        effective_rank_by_unit(debiased, record),
        residual_energy_by_unit(debiased, record, span),
        span.rank,
    )


def with_diagnostics(run: Run, found: Diagnostics) -> Run:
    """The same run with the numbers in the trace of its first record, saved along with it."""
    layer = min(run.by_layer)
    record = run.by_layer[layer]
    values = {field.name: getattr(found, field.name) for field in fields(found)}
    added = {_PREFIX + name: _as_tensor(value) for name, value in values.items()}
    told = replace(record, trace=dict(record.trace) | added)
    return replace(run, by_layer=dict(run.by_layer) | {layer: told})


def _as_tensor(value: float | Tensor) -> Tensor:
    return value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=torch.float64)


def diagnostics_of(run: Run) -> Diagnostics | None:
    """The numbers kept with a run, or None where none were taken."""
    trace: Mapping[str, Tensor] = run.compression.trace
    names = [field.name for field in fields(Diagnostics)]
    if any(_PREFIX + name not in trace for name in names):
        return None
    held = {name: trace[_PREFIX + name] for name in names}
    values: dict[str, Any] = {n: float(v) if v.ndim == 0 else v for n, v in held.items()}
    return Diagnostics(**values)
