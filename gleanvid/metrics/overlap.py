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


def random_iou(record: Compression, gap: int) -> float:
    """Return the expected :func:`spatial_iou` if positions were kept at random.

    Each unit keeps as many as in ``record``. The value is exact: the overlap of two random sets has
    a hypergeometric distribution.
    """
    size, budgets = record.grid[1] * record.grid[2], record.budgets.tolist()
    pairs = [pair for pair in zip(budgets, budgets[gap:], strict=False) if any(pair)]
    known = {pair: expected_iou(*pair, size) for pair in set(pairs)}
    return sum(known[pair] for pair in pairs) / len(pairs) if pairs else float("nan")


def random_iou_curve(record: Compression, gaps: Iterable[int] = GAPS) -> Tensor:
    """Return :func:`random_iou` for each gap in ``gaps``, float64 [number of gaps]."""
    return torch.tensor([random_iou(record, gap) for gap in gaps], dtype=torch.float64)


def expected_iou(first: int, second: int, size: int) -> float:
    """Expected IoU of two random sets, of ``first`` and ``second`` out of ``size`` positions."""
    common = torch.arange(max(0, first + second - size), min(first, second) + 1).double()
    ways = _log_choose(first, common) + _log_choose(size - first, second - common)
    chance = (ways - _log_choose(size, torch.tensor(float(second)).double())).exp()
    return float((chance * common / (first + second - common)).sum())


def _log_choose(total: int, some: Tensor) -> Tensor:
    return (
        torch.lgamma(torch.tensor(total + 1.0).double())
        - torch.lgamma(some + 1)
        - torch.lgamma(total - some + 1)
    )


def mask_overlap(a: Compression, b: Compression) -> float:
    """Return the IoU of the kept positions of two records of one clip.

    Raises:
        ValueError: the records have different grids.
    """
    if a.grid != b.grid or a.num_tokens != b.num_tokens:
        raise ValueError(f"records of different clips: grids {a.grid} and {b.grid}")
    first, second = a.mask.cpu(), b.mask.cpu()
    return float((first & second).sum() / (first | second).sum())
