"""Coverage: how well the kept rows explain what was dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from gleanvid.metrics.span import Span, kept_span
from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor

_CHUNK = 2048  # rows projected at a time


def coverage_error(debiased: Tensor, record: Compression, span: Span | None = None) -> float:
    """Mean over dropped tokens of the share of their energy outside the span of all kept rows.

    ``debiased`` [L, D]. Dropped is every token at whose place no kept row stands, also one that
    was merged into another. 0 where nothing is dropped; tokens without energy are left out.
    """
    errors = coverage_errors(debiased, record, span)
    counted = errors[~torch.isnan(errors)]
    return float(counted.mean()) if len(counted) else 0.0


def coverage_errors(debiased: Tensor, record: Compression, span: Span | None = None) -> Tensor:
    """float64 [L]: the unexplained share of every dropped token; NaN where kept or without energy.

    For heat maps of what a method lost.
    """
    basis = (span or kept_span(debiased, record)).directions
    errors = torch.full((len(debiased),), float("nan"), dtype=torch.float64)
    for places in torch.nonzero(~record.mask).squeeze(1).split(_CHUNK):
        rows = debiased[places].float()
        energy = rows.double().square().sum(1)
        explained = (rows @ basis.T).double().square().sum(1)
        errors[places.cpu()] = (1.0 - explained / energy).clamp(min=0).cpu()  # 0 / 0 is NaN
    return errors
