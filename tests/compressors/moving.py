"""A made-up clip of moving content in which much is repeated exactly."""

import torch

from gleanvid.types import VideoTokens

GRID, WIDTH = (15, 8, 8), 320


def moving_clip(seed: int, rank: int, noise: float, twins: bool = False) -> VideoTokens:
    """Units of latent rank ``rank`` plus a shared direction; every third is a shifted copy.

    The right half of every unit is its left half, moved by a token, so that a unit also repeats
    itself but no two tokens have the same neighbours and, with that, the same score. With ``twins``
    it is not moved: every token has one with the same score.
    """
    generator = torch.Generator().manual_seed(seed)
    mixing = torch.randn(rank, WIDTH, generator=generator) / rank**0.5
    shared = 3 * torch.randn(WIDTH, generator=generator)
    units: list[torch.Tensor] = []
    for unit in range(GRID[0]):
        half = torch.randn(GRID[1], GRID[2] // 2, rank, generator=generator) @ mixing + shared
        whole = torch.cat([half, half if twins else half.roll((1, 1), (0, 1))], dim=1)
        units.append(units[-1].roll(2 if twins else 1, 1) if unit % 3 == 2 else whole)
    clip = torch.stack(units).flatten(0, 2)
    clip = clip + noise * torch.randn(clip.shape, generator=generator)
    return VideoTokens(clip, GRID)
