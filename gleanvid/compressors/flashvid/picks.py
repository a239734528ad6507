"""FlashVID's choice of salient tokens that are unlike one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

_MAX_ENTRIES = 2**25  # largest [frames, N, N] tensor of token pairs; more frames are split


def diverse_picks(features: Tensor, weight: Tensor, counts: Tensor) -> Tensor:
    """Pick tokens of each frame one after another; return which are picked, bool [T, N].

    ``counts`` [T]: number to pick in each frame. Each pick maximises ``weight`` [T, N] times a
    distance 1 - cosine. For the first pick, it is the distance to the nearest other token; for the
    later picks, to the nearest token picked before.
    """
    step = max(1, _MAX_ENTRIES // weight.shape[1] ** 2)
    parts = zip(features.split(step), weight.split(step), counts.split(step), strict=True)
    return torch.cat([_picks_at_once(*part) for part in parts])


def _picks_at_once(features: Tensor, weight: Tensor, counts: Tensor) -> Tensor:
    unit = torch.nn.functional.normalize(features, dim=-1)
    # [T, N, N]: weight of a candidate times its distance to another token
    gaps = (1.0 - unit @ unit.transpose(1, 2)) * weight[..., None]
    # [T, N]: weight of a candidate times its distance to the nearest other token (first pick)
    closest = gaps.topk(min(2, gaps.shape[1]), largest=False).values[..., -1]
    picked = torch.zeros_like(weight, dtype=torch.bool)
    frames = torch.arange(len(gaps), device=gaps.device)
    quota = counts.to(gaps.device)
    for number in range(int(counts.max())):
        best = closest.masked_fill(picked, float("-inf")).argmax(dim=1)
        picked[frames, best] |= number < quota
        taken = gaps[frames, :, best]
        closest = taken if number == 0 else torch.minimum(closest, taken)
    return picked
