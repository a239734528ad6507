"""FlashVID's trees of similar tokens through time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from gleanvid.compressors.shared.ranking import descending

if TYPE_CHECKING:
    from torch import Tensor


def trees(features: Tensor, free: Tensor, floor: int, threshold: float) -> tuple[Tensor, Tensor]:
    """Join similar tokens of successive frames in trees that go back in time.

    Only tokens marked in ``free`` bool [L, N] take part. Each joins the most similar token of the
    previous frame if their cosine is above ``threshold``. The threshold is raised if fewer than
    ``floor`` tokens would be left as roots. Returns the flat index of each token's root, int64
    [L*N], and one plus the number of each token's direct children, [L*N].
    """
    unit = torch.nn.functional.normalize(features, dim=-1)
    # [L-1, N, N]: cosine of each token to each token of the previous frame
    cosine = unit[1:] @ unit[:-1].transpose(1, 2)
    cosine.masked_fill_(~(free[1:, :, None] & free[:-1, None, :]), -1.0)
    best, parent = cosine.max(dim=2)
    stands = best.numel() + free.shape[1] - int((best > threshold).sum())
    if stands < floor:
        ranked = torch.cat([best.flatten(), best.new_full(free.shape[1:], -1.0)])
        kth = int(descending(ranked)[max(0, len(ranked) - floor - 1)])
        threshold = max(float(ranked[kth]), -1.0 + 1e-6)
    joins = best > threshold
    root = torch.arange(free.numel(), device=free.device).view_as(free)
    children = torch.ones(free.shape, device=free.device)
    for step, (join, up) in enumerate(zip(joins, parent, strict=True)):
        root[step + 1] = torch.where(join, root[step][up], root[step + 1])
        children[step].index_add_(0, up, join.float())
    return root.flatten(), children.flatten()
