"""Metrics of a compression record or of a run, one group per module.

Metrics of the span of the kept tokens take the clip's debiased tokens [L, D] and a record. The
debiased tokens are computed once per clip by :func:`debiased`. Metrics of overlap and of budgets
take a record alone. :func:`agreement` compares two answers.
"""

from gleanvid.metrics.agreement import agreement as agreement
from gleanvid.metrics.agreement import same_answer as same_answer
from gleanvid.metrics.allocation import budget_gini as budget_gini
from gleanvid.metrics.allocation import gini as gini
from gleanvid.metrics.allocation import novelty as novelty
from gleanvid.metrics.diagnostics import ROUNDING as ROUNDING
from gleanvid.metrics.diagnostics import Diagnostics as Diagnostics
from gleanvid.metrics.diagnostics import RandomKeeping as RandomKeeping
from gleanvid.metrics.diagnostics import diagnose as diagnose
from gleanvid.metrics.diagnostics import diagnostics_of as diagnostics_of
from gleanvid.metrics.diagnostics import random_keeping as random_keeping
from gleanvid.metrics.diagnostics import with_diagnostics as with_diagnostics
from gleanvid.metrics.diversity import effective_dimension as effective_dimension
from gleanvid.metrics.diversity import effective_rank as effective_rank
from gleanvid.metrics.diversity import effective_rank_by_unit as effective_rank_by_unit
from gleanvid.metrics.diversity import effective_rank_so_far as effective_rank_so_far
from gleanvid.metrics.diversity import projected as projected
from gleanvid.metrics.overlap import mask_overlap as mask_overlap
from gleanvid.metrics.saturation import Saturation as Saturation
from gleanvid.metrics.saturation import saturation as saturation
from gleanvid.metrics.span import basis_rank as basis_rank
from gleanvid.metrics.span import coverage_error as coverage_error
from gleanvid.metrics.span import coverage_errors as coverage_errors
from gleanvid.metrics.span import debiased as debiased
from gleanvid.metrics.span import energy_outside_span as energy_outside_span
from gleanvid.metrics.span import kept_span as kept_span
from gleanvid.metrics.span import later_residual_energy as later_residual_energy
from gleanvid.metrics.span import residual_energy as residual_energy
from gleanvid.metrics.span import residual_energy_by_unit as residual_energy_by_unit
