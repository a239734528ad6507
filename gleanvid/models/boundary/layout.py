"""What the boundary has to know about a family: its parts and the shape of its videos."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

Grid = tuple[int, int, int]


@dataclass(frozen=True)
class Layout:
    """The parts of one loaded vision-language model.

    ``core`` runs the vision tower and calls ``language_model`` once, with keywords; ``grids`` reads
    the (units, rows, columns) of every video, in prompt order, from the model's keyword inputs and
    returns an empty list where they do not say.
    """

    core: nn.Module
    language_model: nn.Module
    video_token_id: int
    grids: Callable[[Mapping[str, Any]], list[Grid]]
    vision_attention: nn.Module
    patches_per_token: int
    token_order: Callable[[list[Grid]], Tensor]

    def visual_columns(self, input_ids: Tensor | None, inputs_embeds: Tensor | None) -> Tensor:
        """bool [B, L]: which columns of the prompt are video placeholders."""
        if input_ids is not None:
            return input_ids == self.video_token_id
        if inputs_embeds is None:
            raise ValueError("the model was called without input_ids and without inputs_embeds")
        embed = self.language_model.get_input_embeddings()  # type: ignore[operator]
        placeholder = embed.weight[self.video_token_id].to(inputs_embeds)
        return (inputs_embeds == placeholder).all(-1)
