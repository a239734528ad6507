"""Layout of a model: the modules that the hooks need, and the token grids of its videos."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gleanvid.models.hooks.chunks import NUMBERS_AT_ONCE, Split, by_frame, in_chunks

Grid = tuple[int, int, int]


def no_sides(grid: Grid) -> Tensor:
    """Return int64 [0, 3]: the video has no placeholders besides the tokens of its grid."""
    return torch.empty(0, 3, dtype=torch.long)


@dataclass(frozen=True, eq=False)
class FramesAmongImages:
    """The videos of B prompts whose frames have the placeholder of images.

    Args:
        columns: bool [B, L], True on the tokens of frames.
        frames: for every prompt the number of frames of each of its videos.
        images: for every prompt and each of its images, whether it is a frame.
    """

    columns: Tensor
    frames: list[list[int]]
    images: list[list[bool]]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The parts of one loaded vision-language model.

    Args:
        core: module that runs the vision side and then calls ``language_model`` once, by keyword.
        language_model: module with the decoder layers.
        video_token_id: id of a visual token's placeholder in ``input_ids``.
        grids: from the model's inputs, the token grids (temporal units, rows, columns) of all
            videos in their order. Once encoded, pixels have an empty last dimension.
        vision_attention: last attention module of the vision tower whose output reaches the
            language model, for saliency and keys. None: the model has neither.
        patches_to_tokens: turns [n, C], a row per patch in the order of ``vision_attention``, into
            [T*N, C], a row per visual token of all videos. Patches of images, which come first, are
            left out.
        frames: finds the videos of prompts int64 [B, L] among images with the same placeholder.
            None: every placeholder is one of a video.
        sides: side tokens of a video, placeholders outside its grid such as newlines: int64 [S, 3],
            ascending (index among the video's placeholders, first, stop). One is kept if any grid
            token from first to stop - 1 is; if first equals stop, only if none is dropped.
        vision_method: name of the method of ``core`` that turns pixels into features.
        tower: the vision tower, to be called for a few frames at a time; None: for all at once.
        split: divides the inputs of ``tower`` into parts of a few frames.
        joined: dimension in which the outputs of ``tower`` for these parts are concatenated.
        numbers_at_once: limit on pixel values per part.
        recurrent: whether layers keep a recurrent state.
        windows: whether layers have windowed attention, over positions of the uncompressed prompt.
        masked: whether attention masks depend on more than token order and padding; such masks are
            cut to the kept tokens, others are made anew.
        ahead_only: why tokens can be removed only before the language model; "" if also inside it.
    """

    core: nn.Module
    language_model: nn.Module
    video_token_id: int
    grids: Callable[[Mapping[str, Any]], list[Grid]]
    vision_attention: nn.Module | None
    patches_to_tokens: Callable[[Tensor, list[Grid]], Tensor]
    frames: Callable[[Tensor], FramesAmongImages] | None = None
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
        """Make the vision tower process a few frames at a time while the block runs."""
        return in_chunks(self.tower, self.split, self.joined, self.numbers_at_once)

    def visual_columns(self, input_ids: Tensor | None, inputs_embeds: Tensor | None) -> Tensor:
        """Return where video placeholders are, bool [B, L]; ``ValueError`` without the inputs."""
        if self.frames is not None:
            if input_ids is None:
                raise ValueError(
                    "this model needs input_ids, from which its frames are told from images: pass "
                    "them in place of inputs_embeds"
                )
            return self.frames(input_ids).columns
        if input_ids is not None:
            return input_ids == self.video_token_id
        if inputs_embeds is None:
            raise ValueError("the model was called without input_ids and without inputs_embeds")
        embed = self.language_model.get_input_embeddings()  # type: ignore[operator]
        placeholder = embed.weight[self.video_token_id].to(inputs_embeds)
        return (inputs_embeds == placeholder).all(-1)
