"""Base class of Qwen's vision-language models: pairs of frames, 2x2 patches per token.

The processor resizes each frame so that it fills the whole grid of tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from gleanvid.models.base import ModelAdapter
from gleanvid.models.frames import paired
from gleanvid.models.geometry import cells, check_pixels
from gleanvid.models.hooks import Layout
from gleanvid.models.hooks.chunks import by_unit
from gleanvid.models.hooks.layout import Grid
from gleanvid.types import Video


class QwenVL(ModelAdapter):
    """Base class of Qwen-VL adapters.

    ``bounds_frames``: whether the processor takes bounds on the pixels of one frame; else they are
    for all frames together.
    """

    placeholder: ClassVar[str] = "video_token_id"  # configuration's name for the placeholder id
    bounds_frames: ClassVar[bool] = False

    @classmethod
    def layout_of(cls, hf_model: Any) -> Layout:
        core, config = hf_model.model, hf_model.config
        return Layout(
            core=core,
            language_model=core.language_model,
            video_token_id=getattr(config, cls.placeholder),
            grids=partial(_grids, config.vision_config.spatial_merge_size),
            vision_attention=cls._vision_block(core.visual).attn,
            patches_to_tokens=partial(cls._patches_to_tokens, config.vision_config),
            tower=core.visual,
            split=by_unit,
        )

    @classmethod
    def _vision_block(cls, tower: Any) -> Any:
        """Return the last vision block in which all patches of a pair of frames see each other."""
        return tower.blocks[-1]

    @classmethod
    def _patches_to_tokens(cls, vision_config: Any, patches: Tensor, grids: list[Grid]) -> Tensor:
        """Average the patches of each video token (consecutive rows of ``patches``)."""
        order = cls._token_order(vision_config, grids)
        rows = patches.unflatten(0, (-1, vision_config.spatial_merge_size**2)).mean(1)
        return rows[-len(order) :][order.to(rows.device)]

    @classmethod
    def _token_order(cls, vision_config: Any, grids: list[Grid]) -> Tensor:
        """Return int64 [L]: index of each grid token in the tower's order; here 0 to L - 1."""
        return torch.arange(sum(units * rows * columns for units, rows, columns in grids))

    def processor_options(self, video: Video, max_pixels: int | None) -> dict[str, Any]:
        video = paired(video)
        return super().processor_options(video, max_pixels) | {
            "size": self._size(len(video), max_pixels),
            "cap_pixels_per_frame": True,
        }

    def build_inputs(self, video: Video, text: str, max_pixels: int | None) -> Mapping[str, Any]:
        inputs = super().build_inputs(video, text, max_pixels)
        check_pixels(inputs, self.processor.video_processor, max_pixels)
        return inputs

    def place_tokens(self, video: Video, inputs: Mapping[str, Any]) -> tuple[Grid, Tensor, Tensor]:
        grid = self.layout.grids(inputs)[0]
        last = np.minimum(np.arange(grid[0]) * 2 + 1, len(video) - 1)
        seconds = np.stack([video.timestamps[::2], video.timestamps[last]], 1)
        return grid, torch.as_tensor(seconds), cells(grid[1], grid[2], video.source_size)

    def _size(self, num_frames: int, max_pixels: int | None) -> dict[str, int]:
        """Return the lower and upper bound on pixels for the processor; see ``bounds_frames``.

        The processor raises the upper bound per frame to at least 1.05 times the lower one, and it
        enlarges smaller frames to the lower bound. So the lower one must be well below the upper.
        """
        size = self.processor.video_processor.size
        low, high = int(size["shortest_edge"]), int(size["longest_edge"])
        if max_pixels is not None:
            high = max(1, max_pixels // num_frames) if self.bounds_frames else max_pixels
            low = min(low, high // 4 if self.bounds_frames else int(max_pixels / num_frames / 1.06))
        return {"shortest_edge": max(low, 1), "longest_edge": high}


def _grids(merge: int, inputs: Mapping[str, Any]) -> list[Grid]:
    sizes = inputs.get("video_grid_thw")
    rows = [] if sizes is None else sizes.tolist()
    return [(units, height // merge, width // merge) for units, height, width in rows]
