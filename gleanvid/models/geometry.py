"""Rectangles of tokens in the source picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from gleanvid.types import ModelError


def cells(rows: int, columns: int, size: tuple[float, float]) -> Tensor:
    """Rectangles [N, 4] (left, top, right, bottom) of an even grid over (height, width)."""
    down = torch.linspace(0, size[0], rows + 1, dtype=torch.float64)
    across = torch.linspace(0, size[1], columns + 1, dtype=torch.float64)
    top, left = torch.meshgrid(down[:-1], across[:-1], indexing="ij")
    bottom, right = torch.meshgrid(down[1:], across[1:], indexing="ij")
    return torch.stack([left, top, right, bottom], -1).flatten(0, 1)


def check_pixels(inputs: Mapping[str, Any], video_processor: Any, max_pixels: int | None) -> None:
    """Raises ``ModelError`` where the resized frames have more pixels than ``max_pixels``."""
    (units, height, width), patch = inputs["video_grid_thw"][0].tolist(), video_processor.patch_size
    pixels = units * video_processor.temporal_patch_size * height * width * patch**2
    if max_pixels is not None and pixels > max_pixels:
        raise ModelError(
            f"max_pixels={max_pixels} is too little for this clip, which takes at least "
            f"{pixels} pixels: use fewer frames or a higher max_pixels."
        )
