"""Rectangles of tokens in a frame, means of patches, and checks of the bound on pixels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from gleanvid.types import ModelError, Video


def cells(rows: int, columns: int, size: tuple[float, float]) -> Tensor:
    """Divide an image of ``size`` (height, width) into equal cells; return them as [N, 4].

    Cells go row by row. Each is (left, top, right, bottom).
    """
    down = torch.linspace(0, size[0], rows + 1, dtype=torch.float64)
    across = torch.linspace(0, size[1], columns + 1, dtype=torch.float64)
    top, left = torch.meshgrid(down[:-1], across[:-1], indexing="ij")
    bottom, right = torch.meshgrid(down[1:], across[1:], indexing="ij")
    return torch.stack([left, top, right, bottom], -1).flatten(0, 1)


def block_mean(factor: int, rows: Tensor) -> Tensor:
    """Average blocks of factor x factor patches: [T, P, C] to [T, P / factor^2, C]."""
    side = round(rows.shape[1] ** 0.5) // factor
    return rows.unflatten(1, (side, factor, side, factor)).mean((2, 4)).flatten(1, 2)


def blocks_to_tokens(block: int, patches: Tensor, grids: list[tuple[int, int, int]]) -> Tensor:
    """Average blocks of ``block`` x ``block`` patches; return [T*N, C], one row per token.

    ``patches`` [n, C]: those of a frame are stored row by row. ``grids``: (temporal units, rows,
    columns) of each video's tokens. Patches of images come before those of videos and are left out.
    """
    sizes = [units * rows * columns * block**2 for units, rows, columns in grids]
    parts = patches[-sum(sizes) :].split(sizes)
    return torch.cat(
        [
            part.view(units, rows, block, columns, block, -1).mean((2, 4)).flatten(0, 2)
            for part, (units, rows, columns) in zip(parts, grids, strict=True)
        ]
    )


def check_frame_pixels(name: str, side: int, video: Video, max_pixels: int | None) -> None:
    """Raise ``ModelError`` if frames of ``side`` x ``side`` px exceed ``max_pixels`` in total."""
    if max_pixels is not None and max_pixels < len(video) * side * side:
        raise ModelError(
            f"{name} sees every frame at {side}x{side} pixels: {len(video)} frames do "
            f"not fit into max_pixels={max_pixels}. Use fewer frames."
        )


def check_pixels(inputs: Mapping[str, Any], video_processor: Any, max_pixels: int | None) -> None:
    """Raise ``ModelError`` if the frames, as resized in ``inputs``, exceed ``max_pixels``."""
    (units, height, width), patch = inputs["video_grid_thw"][0].tolist(), video_processor.patch_size
    pixels = units * video_processor.temporal_patch_size * height * width * patch**2
    if max_pixels is not None and pixels > max_pixels:
        raise ModelError(
            f"max_pixels={max_pixels} is too small for this clip, which takes at least "
            f"{pixels} pixels: use fewer frames or a higher max_pixels."
        )
