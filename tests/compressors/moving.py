"""A synthetic clip of moving content with many exactly repeated tokens."""

import torch

from gleanvid.types import VideoTokens

GRID, WIDTH = (15, 8, 8), 320


def moving_clip(seed: int, rank: int, noise: float) -> VideoTokens:
    """Return tokens of rank ``rank``, plus one direction shared by all, plus ``noise``.

    Every third temporal unit is a copy of the unit before it, moved one column. In the other units,
    the right half is a copy of the left half, moved one row and one column, so that scores differ.
    """
    generator = torch.Generator().manual_seed(seed)
    mixing = torch.randn(rank, WIDTH, generator=generator) / rank**0.5
    shared = 3 * torch.randn(WIDTH, generator=generator)
    units: list[torch.Tensor] = []
    for unit in range(GRID[0]):
        half = torch.randn(GRID[1], GRID[2] // 2, rank, generator=generator) @ mixing + shared
        whole = torch.cat([half, half.roll((1, 1), (0, 1))], dim=1)
        units.append(units[-1].roll(1, 1) if unit % 3 == 2 else whole)
    clip = torch.stack(units).flatten(0, 2)
    clip = clip + noise * torch.randn(clip.shape, generator=generator)
    return VideoTokens(clip, GRID)
