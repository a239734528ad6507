"""Attention masks of compressed prompts, cut from the masks of the uncompressed prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from gleanvid.models.hooks.sequence import Plan


def refuse_other_masks(mask: Any, present: Tensor) -> None:
    """Raise ``ValueError`` for a 4-D mask that is more than causal: it would be read as padding.

    ``present`` bool [B, L]: which tokens the last query sees.
    """
    if not isinstance(mask, Tensor) or mask.ndim != 4:
        return
    length = present.shape[1]
    seen = (mask if mask.dtype == torch.bool else mask == 0)[..., :length].to(present.device)
    causal = present[:, None, None] & present.new_ones(length, length).tril()
    if bool(((seen != causal) & present[:, None, :, None]).any()):
        raise ValueError(
            "an attention mask [B, 1, L, L] that is not causal cannot be compressed: pass one of "
            "padding, [B, L]"
        )


def narrowed_mask(mask: Any, plan: Plan, entered: int, prefilling: bool, static: bool) -> Any:
    """Return the attention mask of the tokens of ``plan``, cut from the ``mask`` of all tokens.

    Args:
        mask: None, [B, keys] (FlashAttention) or [B or 1, 1, queries, keys], boolean or additive.
        plan: the tokens that are left of each prompt.
        entered: number of prompt tokens that entered layer 0; later keys are decoded tokens.
        prefilling: whether the queries are prompt tokens; they are then cut like the keys.
        static: whether the cache is static; the mask then keeps the width of the cache.

    Raises:
        ValueError: the mask is of another kind, or None although the prompts of the batch keep
            different numbers of tokens.
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
    if prefilling and plan.padded:  # let padding see itself: seeing nothing gives NaN
        itself = torch.diag_embed(~present)[:, None]
        kept = kept.masked_fill(itself, True if boolean else 0.0)
    cut = torch.cat([kept, mask[..., entered:]], -1)
    return pad(cut, (0, mask.shape[-1] - cut.shape[-1]), value=blocked) if static else cut


def cut_masks(masks: Any, plan: Plan, entered: int, static: bool) -> Any:
    """Cut the masks of prompts of ``entered`` tokens to the tokens of ``plan``, at prefill.

    ``masks`` is one mask, or a mapping by layer type. None means causal attention. It stays None
    unless the shorter prompts are padded.
    """
    if isinstance(masks, Mapping):
        return {kind: cut_masks(mask, plan, entered, static) for kind, mask in masks.items()}
    if masks is None and plan.padded:
        whole = torch.ones(entered, entered, dtype=torch.bool, device=plan.index.device)
        masks = whole.tril().expand(len(plan.index), 1, -1, -1)
    return narrowed_mask(masks, plan, entered, prefilling=True, static=static)
