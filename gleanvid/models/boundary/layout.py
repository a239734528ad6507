"""Layout of a model, as the hooks need it: its parts and the shape of its videos."""

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
    """int64 [0, 3]: every placeholder is a token of the grid."""
    return torch.empty(0, 3, dtype=torch.long)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The parts of one loaded vision-language model.

    Args:
        core: runs the vision side and calls ``language_model`` once, with keywords.
        language_model: reads the prompt.
        video_token_id: placeholder of a visual token in ``input_ids`` (that of images where frames
            go in as images). Other text of a video (timestamps, frame numbers) always stays.
        grids: (units, rows, columns) of every video in prompt order, from the keywords that hold
            its pixels or their shape (pixels of a remembered video are empty in their last
            dimension); an empty list where the keywords hold no video.
        vision_attention: last attention module whose output the language model sees; None if
            there is none and so no signals.
        patches_to_tokens: turns rows [n, C] of that module, in the tower's order, into rows
            [T*N, C], one per token of all videos. Rows of images in the prompt come first.
        sides: placeholders that are no tokens of the grid, such as newlines: int64 [S, 3] of
            (index among the video's placeholders, first, stop), ascending. One stays as long as
            any of the grid's tokens first..stop-1 stays: the tokens of its line; 0..T*N keeps it
            always; an empty range drops it from every video that loses a token.
        vision_method: name of the method of ``core`` that turns pixels into features.
        tower: the vision tower, run on a few frames at a time; None runs everything at once.
        split: cuts the inputs of ``tower`` into parts.
        joined: dimension in which the outputs of ``tower`` for the parts follow each other.
        numbers_at_once: numbers of pixel input per part.
        recurrent: layers read one column after the other.
        windows: layers look back a number of columns, counted in the whole prompt.
        masked: ``core`` makes masks that know more than order and padding, so they are cut instead
            of made from scratch.
        ahead_only: why no token can be removed inside the language model, if so.
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
        """Run the tower on ``numbers_at_once`` elements at a time while the block runs."""
        return in_chunks(self.tower, self.split, self.joined, self.numbers_at_once)

    def visual_columns(self, input_ids: Tensor | None, inputs_embeds: Tensor | None) -> Tensor:
        """bool [B, L]: which columns of the prompt are video placeholders."""
        if input_ids is not None:
            return input_ids == self.video_token_id
        if inputs_embeds is None:
            raise ValueError("the model was called without input_ids and without inputs_embeds")
        embed = self.language_model.get_input_embeddings()  # type: ignore[operator]
        placeholder = embed.weight[self.video_token_id].to(inputs_embeds)
        return (inputs_embeds == placeholder).all(-1)
