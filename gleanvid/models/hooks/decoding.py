"""Positions and attention masks of the tokens that follow a compressed prompt."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class Prefilled:
    """What decoding needs to know of the latest prefill: B prompts, compressed to P tokens.

    If a prompt was prefilled only up to the end of its video, the rest of the prompt follows:
    ``lead`` text tokens, whose first position is ``lead_position``. In some models, these positions
    overlap those of the video.
    """

    mask: Tensor  # bool [B, P]: False on padding
    padded: bool
    # [B], position of the first token after each prompt, as in the uncompressed prompt
    next_position: Tensor
    # 3 if position_ids are [3, B, L] (time, height, width), 0 if they are [B, L]
    sections: int
    lead: int = 0
    lead_position: float = 0
    # [B, P] or [3, B, P], positions of the kept tokens
    positions: Tensor | None = None
    windowed: bool = False  # whether attention windows span positions

    @property
    def length(self) -> int:
        return self.mask.shape[1]

    def positions_from(self, past: int, new: int, device: torch.device) -> Tensor:
        """Return positions [B, new] of ``new`` tokens that follow ``past`` cached tokens."""
        steps = torch.arange(past - self.length, past - self.length + new, device=device)
        later = self.next_position.to(device)[:, None] + steps - self.lead
        return torch.where(steps < self.lead, self.lead_position + steps, later)

    def present(self, decoded: int) -> Tensor:
        """Return the mask of prompts and decoded tokens, bool [B, P + decoded]; False: padding."""
        prompt = self.mask[:, : self.length + min(decoded, 0)]
        return torch.cat([prompt, prompt.new_ones(len(prompt), max(decoded, 0))], 1)

    def of_rows(self, rows: Tensor) -> Prefilled:
        """Return the state of the prompts ``rows`` int64 [B']."""
        rows = rows.to(self.mask.device)
        positions = None if self.positions is None else self.positions.index_select(-2, rows)
        next_position = self.next_position[rows]
        return replace(self, mask=self.mask[rows], next_position=next_position, positions=positions)

    def following(self, kwargs: dict[str, Any], past: int, window: int | None) -> dict[str, Any]:
        """Return the language model's arguments ``kwargs`` for tokens that follow the prompt.

        Positions and mask in them were made for the uncompressed prompt. ``past``: number of cached
        tokens; ``window``: span of windowed attention in positions.
        """
        count, new = kwargs["inputs_embeds"].shape[:2]
        positions = self.positions_from(past, new, kwargs["inputs_embeds"].device)
        mask: Any = None
        if self.sections:
            positions = positions.expand(3, count, new)
        if self.positions is not None and past < self.length:  # the cache was cropped
            again = self.positions[..., past : past + new].to(positions.device)
            positions = torch.cat([again, positions[..., again.shape[-1] :]], -1)
        if self.windowed:
            assert window is not None
            mask = window_masks(self, positions, passed_cache(kwargs), window)
        elif self.padded:
            mask = self.present(past + new - self.length).long()
        return kwargs | {"position_ids": positions, "attention_mask": mask}


def cache_argument(module: nn.Module, cache: Any) -> dict[str, Any]:
    """Return the key/value cache as a keyword argument, named as ``module.forward`` names it.

    transformers 5.24 renamed ``past_key_values`` to ``cache`` and warns about the old name.
    """
    takes = inspect.signature(module.forward).parameters
    return {"cache" if "cache" in takes else "past_key_values": cache}


def passed_cache(kwargs: Mapping[str, Any]) -> Any:
    """Return the key/value cache from the keyword arguments of a model or layer."""
    return kwargs.get("cache", kwargs.get("past_key_values"))


def cached_length(cache: Any) -> int:
    return 0 if cache is None else int(cache.get_seq_length())


def window_masks(state: Prefilled, positions: Tensor, cache: Any, window: int) -> dict[str, Tensor]:
    """Return the attention masks of q new tokens at ``positions`` [B, q], by layer type.

    The attention window spans ``window`` positions of the uncompressed prompt, so it holds fewer
    tokens where tokens were dropped.
    """
    assert state.positions is not None
    device, new = positions.device, positions.shape[1]
    past = cached_length(cache)
    between = state.positions_from(state.length, max(0, past - state.length), device)
    place = torch.cat([state.positions[:, :past].to(device), between, positions], 1)
    present = state.present(place.shape[1] - state.length).to(device)
    seen = present[:, None] & (place[:, None] <= positions[..., None])
    near = seen & (place[:, None] > positions[..., None] - window)
    sliding = next((layer for layer in cache.layers if layer.is_sliding), None)
    start = 0 if sliding is None else sliding.get_mask_sizes(new)[1]
    return {"full_attention": seen[:, None], "sliding_attention": near[:, None, :, start:]}
