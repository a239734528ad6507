"""Positions and masks of the columns decoded after a compressed prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Prefilled:
    """State of the latest prefill that decoding needs.

    If the prompt ended in its video, ``lead`` columns of its text are still to come, from
    ``lead_position`` on. In some models the two overlap.
    """

    mask: Tensor  # bool [B, P]
    padded: bool
    next_position: Tensor  # [B], where decoding continues in the original positions
    sections: int  # leading dimension of position_ids: 0 for [B, L], 3 for time, height, width
    lead: int = 0
    lead_position: float = 0
    positions: Tensor | None = (
        None  # [B, P], positions of the kept columns; only for windowed attention
    )

    @property
    def length(self) -> int:
        return self.mask.shape[1]

    def positions_from(self, past: int, new: int, device: torch.device) -> Tensor:
        """[B, new]: positions of the columns after ``past`` ones, prompt and decoded."""
        steps = torch.arange(past - self.length, past - self.length + new, device=device)
        later = self.next_position.to(device)[:, None] + steps - self.lead
        return torch.where(steps < self.lead, self.lead_position + steps, later)

    def present(self, decoded: int) -> Tensor:
        """bool [B, P + decoded]: False on padding."""
        return torch.cat([self.mask, self.mask.new_ones(len(self.mask), decoded)], 1)


def cached_length(cache: Any) -> int:
    return 0 if cache is None else int(cache.get_seq_length())


def window_masks(state: Prefilled, positions: Tensor, cache: Any, window: int) -> dict[str, Tensor]:
    """Return the masks, by layer type, for new columns at ``positions`` [B, q].

    A window is counted in positions of the whole prompt, not in the remaining columns.
    """
    assert state.positions is not None
    device, new = positions.device, positions.shape[1]
    between = state.positions_from(state.length, cached_length(cache) - state.length, device)
    place = torch.cat([state.positions.to(device), between, positions], 1)
    present = state.present(place.shape[1] - state.length).to(device)
    seen = present[:, None] & (place[:, None] <= positions[..., None])
    near = seen & (place[:, None] > positions[..., None] - window)
    sliding = next((layer for layer in cache.layers if layer.is_sliding), None)
    start = 0 if sliding is None else sliding.get_mask_sizes(new)[1]
    return {"full_attention": seen[:, None], "sliding_attention": near[:, None, :, start:]}
