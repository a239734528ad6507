"""Attention masks of a compressed prompt, cut from the mask of the whole prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from gleanvid.models.boundary.sequence import Plan


def narrowed_mask(mask: Any, plan: Plan, entered: int, prefilling: bool, static: bool) -> Any:
    """Return ``mask``, cut from the ``entered`` prompt columns to the columns of ``plan``.

    ``mask`` is None, 2-D [B, columns] (FlashAttention) or 4-D [B or 1, 1, rows, columns], boolean
    or additive. With a ``static`` cache, the mask keeps the width of the cache. Raises
    ``ValueError`` for any other mask, and for None if rows keep different numbers of tokens.
    """
    if mask is None:
        if plan.padded:
            raise ValueError("inside the model, all rows of a batch must keep equally many tokens")
        return None
    if not isinstance(mask, Tensor) or mask.ndim not in (2, 4):
        raise ValueError("masks of this attention implementation cannot be shortened: use sdpa")
    present, index = plan.mask.to(mask.device), plan.index.to(mask.device)
    if mask.ndim == 2:
        kept = mask[:, :entered].gather(1, index) * present.to(mask.dtype)
        return torch.cat([kept, mask[:, entered:]], 1)
    boolean = mask.dtype == torch.bool
    blocked = False if boolean else torch.finfo(mask.dtype).min
    mask = mask.expand(len(index), -1, -1, -1)
    if prefilling:
        rows = index[:, None, :, None].expand(-1, 1, -1, mask.shape[-1])
        mask = mask.gather(2, rows)
    columns = index[:, None, None].expand(-1, 1, mask.shape[2], -1)
    kept = mask[..., :entered].gather(3, columns).masked_fill(~present[:, None, None], blocked)
    if prefilling and plan.padded:  # a fully masked row would become NaN: let padding see itself
        itself = torch.diag_embed(~present)[:, None]
        kept = kept.masked_fill(itself, True if boolean else 0.0)
    cut = torch.cat([kept, mask[..., entered:]], -1)
    return pad(cut, (0, mask.shape[-1] - cut.shape[-1]), value=blocked) if static else cut


def cut_masks(masks: Any, plan: Plan, entered: int, static: bool) -> Any:
    """Cut the masks of a whole prompt of ``entered`` columns to the columns of ``plan``.

    ``masks`` is one mask, or a mapping by layer type. None means causal attention; it stays None
    unless rows are padded.
    """
    if isinstance(masks, Mapping):
        return {kind: cut_masks(mask, plan, entered, static) for kind, mask in masks.items()}
    if masks is None and plan.padded:
        whole = torch.ones(entered, entered, dtype=torch.bool, device=plan.index.device)
        masks = whole.tril().expand(len(plan.index), 1, -1, -1)
    return narrowed_mask(masks, plan, entered, prefilling=True, static=static)
