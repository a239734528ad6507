"""Rectangles of tokens in the source picture."""

from __future__ import annotations

import torch
from torch import Tensor


def cells(rows: int, columns: int, size: tuple[float, float]) -> Tensor:
    """Rectangles [N, 4] (left, top, right, bottom) of an even grid over (height, width)."""
    down = torch.linspace(0, size[0], rows + 1, dtype=torch.float64)
    across = torch.linspace(0, size[1], columns + 1, dtype=torch.float64)
    top, left = torch.meshgrid(down[:-1], across[:-1], indexing="ij")
    bottom, right = torch.meshgrid(down[1:], across[1:], indexing="ij")
    return torch.stack([left, top, right, bottom], -1).flatten(0, 1)
