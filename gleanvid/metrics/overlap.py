"""Overlap of kept positions, between units of one clip or between two compressions of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch

from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor

GAPS = range(1, 21)  # distances between two units in the paper's diagnosis


def spatial_iou(record: Compression, gap: int) -> float:
    """Return the mean IoU of the positions kept in units t and t + ``gap``.

    Args:
        record: the compression of a clip.
        gap: distance in units, at least 1.

    Returns:
        The mean over all t, without pairs of units that both keep nothing. NaN if no pair is left.

    Raises:
        ValueError: ``gap`` is below 1.
    """
    if gap < 1:
        raise ValueError(f"gap={gap!r} must be at least 1")
    mask = record.mask.view(record.grid[0], -1)
    both = (mask[:-gap] & mask[gap:]).sum(1)
    either = (mask[:-gap] | mask[gap:]).sum(1)
    return float((both[either > 0] / either[either > 0]).mean())


def spatial_iou_curve(record: Compression, gaps: Iterable[int] = GAPS) -> Tensor:
    """Return :func:`spatial_iou` for each gap in ``gaps``, float64 [number of gaps]."""
    return torch.tensor([spatial_iou(record, gap) for gap in gaps], dtype=torch.float64)


def mask_overlap(a: Compression, b: Compression) -> float:
    """Return the IoU of the kept positions of two records of one clip.

    Raises:
        ValueError: the records have different grids.
    """
    if a.grid != b.grid or a.num_tokens != b.num_tokens:
        raise ValueError(f"records of different clips: grids {a.grid} and {b.grid}")
    first, second = a.mask.cpu(), b.mask.cpu()
    return float((first & second).sum() / (first | second).sum())
