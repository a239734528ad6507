"""Metrics of a compression record or of a run, one group per module.

Metrics of the span of the kept tokens take the clip's debiased tokens [L, D] and a record. The
debiased tokens are computed once per clip by :func:`debiased`. Metrics of overlap and of budgets
take a record alone. :func:`agreement` compares two answers.
"""

from gleanvid.metrics.agreement import agreement, same_answer
from gleanvid.metrics.allocation import budget_gini, gini, novelty
from gleanvid.metrics.diagnostics import (
    ROUNDING,
    Diagnostics,
    RandomKeeping,
    diagnose,
    diagnostics_of,
    random_keeping,
    with_diagnostics,
)
from gleanvid.metrics.diversity import (
    centred_energy_rank,
    effective_dimension,
    effective_dimensions,
    effective_rank,
    effective_rank_by_unit,
    energy_rank,
)
from gleanvid.metrics.head import clip_agreement, frame_agreement, label_recall
from gleanvid.metrics.overlap import (
    mask_overlap,
    mask_overlaps,
    random_iou,
    random_iou_curve,
    spatial_iou,
    spatial_iou_curve,
)
from gleanvid.metrics.reconstruction import principal_components, reconstruction
from gleanvid.metrics.saturation import Saturation, saturation
from gleanvid.metrics.span import (
    Span,
    basis_rank,
    coverage_error,
    coverage_errors,
    debiased,
    energy_outside_picked,
    energy_outside_span,
    kept_span,
    later_residual_energy,
    residual_energy,
    residual_energy_by_unit,
)

__all__ = [
    "ROUNDING",
    "Diagnostics",
    "RandomKeeping",
    "Saturation",
    "Span",
    "agreement",
    "basis_rank",
    "budget_gini",
    "centred_energy_rank",
    "clip_agreement",
    "coverage_error",
    "coverage_errors",
    "debiased",
    "diagnose",
    "diagnostics_of",
    "effective_dimension",
    "effective_dimensions",
    "effective_rank",
    "effective_rank_by_unit",
    "energy_outside_picked",
    "energy_outside_span",
    "energy_rank",
    "frame_agreement",
    "gini",
    "kept_span",
    "label_recall",
    "later_residual_energy",
    "mask_overlap",
    "mask_overlaps",
    "novelty",
    "principal_components",
    "random_iou",
    "random_iou_curve",
    "random_keeping",
    "reconstruction",
    "residual_energy",
    "residual_energy_by_unit",
    "same_answer",
    "saturation",
    "spatial_iou",
    "spatial_iou_curve",
    "with_diagnostics",
]
