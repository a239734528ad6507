"""Layout of a model: the modules that the hooks need, and the token grids of its videos."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gleanvid.models.boundary.chunks import NUMBERS_AT_ONCE, Split, by_frame, in_chunks

Grid = tuple[int, int, int]


def no_sides(grid: Grid) -> Tensor:
    """Return int64 [0, 3], for a video in which every placeholder is a token of the grid."""
    return torch.empty(0, 3, dtype=torch.long)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The parts of one loaded vision-language model.

    Args:
        core: runs the vision side and calls ``language_model`` once, with keywords.
        language_model: reads the prompt.
        video_token_id: placeholder of a visual token in ``input_ids`` (the placeholder of images if
            frames are passed as images). Timestamps and frame numbers of a video are always kept.
        grids: returns (units, rows, columns) of every video in prompt order, read from the keywords
            with its pixels or their shape (the pixels of an encoded video have an empty last
            dimension); returns an empty list if the keywords hold no video.
        vision_attention: last attention module whose output the language model sees; None if
            the model has no such module, hence no signals.
        patches_to_tokens: turns rows [n, C] of that module, in the tower's order, into rows
            [T*N, C], one per token of all videos. Rows of images in the prompt come first.
        sides: returns the placeholders outside the grid, such as newlines, as int64 [S, 3] of
            (index among the video's placeholders, first, stop), ascending. A side token is kept if
            any of the grid's tokens first..stop-1 (its line) is kept. The range 0..T*N keeps it
            always; an empty range drops it if any token of the video is dropped.
        vision_method: name of the method of ``core`` that turns pixels into features.
        tower: the vision tower, run on a few frames at a time; None runs everything at once.
        split: divides the inputs of ``tower`` into parts of a few frames.
        joined: dimension in which the outputs of ``tower`` for these parts are concatenated.
        numbers_at_once: limit on pixel values per part.
        recurrent: whether layers keep a recurrent state.
        windows: whether layers have windowed attention, counted in columns of the whole prompt.
        masked: whether the masks of ``core`` depend on more than order and padding; they are then
            cut instead of computed from scratch.
        ahead_only: why no token can be removed inside the language model; "" if tokens can be.
    """

    core: nn.Module
    language_model: nn.Module
    video_token_id: int
    grids: Callable[[Mapping[str, Any]], list[Grid]]
    vision_attention: nn.Module | None
    patches_to_tokens: Callable[[Tensor, list[Grid]], Tensor]
    sides: Callable[[Grid], Tensor] = no_sides
    vision_method: str = "get_video_features"
    tower: nn.Module | None = None
    split: Split = by_frame
    joined: int = 0
    numbers_at_once: int = NUMBERS_AT_ONCE
    recurrent: bool = False
    windows: bool = False
    masked: bool = False
    ahead_only: str = ""

    def in_chunks(self) -> AbstractContextManager[None]:
        """Run the tower on ``numbers_at_once`` pixel values at a time while the block runs."""
        return in_chunks(self.tower, self.split, self.joined, self.numbers_at_once)

    def visual_columns(self, input_ids: Tensor | None, inputs_embeds: Tensor | None) -> Tensor:
        """Return which columns of the prompt are video placeholders, bool [B, L]."""
        if input_ids is not None:
            return input_ids == self.video_token_id
        if inputs_embeds is None:
            raise ValueError("the model was called without input_ids and without inputs_embeds")
        embed = self.language_model.get_input_embeddings()  # type: ignore[operator]
        placeholder = embed.weight[self.video_token_id].to(inputs_embeds)
        return (inputs_embeds == placeholder).all(-1)
