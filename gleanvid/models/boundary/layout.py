"""What the boundary has to know about a family: its parts and the shape of its videos."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gleanvid.models.boundary.chunks import Split, by_frame

Grid = tuple[int, int, int]


def no_sides(grid: Grid) -> Tensor:
    """int64 [0, 3]: every placeholder is a token of the grid."""
    return torch.empty(0, 3, dtype=torch.long)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The parts of one loaded vision-language model. A family says:

    - ``core``: the module that runs the vision side and calls ``language_model`` once, by keyword;
      ``vision_method`` is the name of its method that turns pixels into features.
    - ``video_token_id``: the placeholder that stands for a visual token in ``input_ids`` (that of
      images where frames go in as images). All other text of a video (timestamps, frame numbers)
      always stays.
    - ``grids``: (units, rows, columns) of every video, in prompt order, from the keywords that hold
      its pixels, be it their shape alone (a remembered video's pixels are empty in their last
      dimension); an empty list where the keywords hold no video.
    - ``sides``: which placeholders are no tokens of the grid but, say, newlines: int64 [S, 3] of
      (place among the video's placeholders, first, stop), ascending. One stays as long as any of
      the grid's tokens first..stop-1 stays: the tokens of its line, 0..T*N to keep it always, an
      empty range to drop it from every video that loses a token.
    - ``vision_attention``: the last attention module whose output the language model gets to see,
      None where there is none and so no signals;
      ``patches_to_tokens`` turns its rows [n, C], in the tower's order, into rows [T*N, C] per
      token of all videos. Rows ahead of the videos' belong to images of the same prompt.
    - ``ahead_only``: why nothing can be taken out inside the language model, if so;
      ``recurrent``: layers read one column after the other, ``windows``: layers look back a number
      of columns, which are counted in the whole prompt; ``masked``: ``core`` makes masks that know
      more than order and padding, so they are cut and not made anew.
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
    joined: int = 0  # the dimension in which the tower's outputs for parts follow each other
    recurrent: bool = False
    windows: bool = False
    masked: bool = False
    ahead_only: str = ""

    def visual_columns(self, input_ids: Tensor | None, inputs_embeds: Tensor | None) -> Tensor:
        """bool [B, L]: which columns of the prompt are video placeholders."""
        if input_ids is not None:
            return input_ids == self.video_token_id
        if inputs_embeds is None:
            raise ValueError("the model was called without input_ids and without inputs_embeds")
        embed = self.language_model.get_input_embeddings()  # type: ignore[operator]
        placeholder = embed.weight[self.video_token_id].to(inputs_embeds)
        return (inputs_embeds == placeholder).all(-1)
