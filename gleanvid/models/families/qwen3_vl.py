"""Qwen3-VL, dense and mixture of experts (Bai et al., "Qwen3-VL Technical Report", 2025).

A token is a 2x2 block of patches of two frames; the resize ahead of it squashes each frame onto
the whole grid.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from gleanvid.models.base import ModelAdapter
from gleanvid.models.boundary import Layout
from gleanvid.models.boundary.chunks import by_unit
from gleanvid.models.frames import frame_metadata, paired
from gleanvid.models.geometry import cells, check_pixels
from gleanvid.types import Video


class Qwen3VL(ModelAdapter):
    model_types: ClassVar[tuple[str, ...]] = ("qwen3_vl", "qwen3_vl_moe")

    @classmethod
    def layout_of(cls, hf_model: Any) -> Layout:
        merge = hf_model.config.vision_config.spatial_merge_size

        def grids(inputs: Mapping[str, Any]) -> list[tuple[int, int, int]]:
            found = inputs.get("video_grid_thw")
            rows = [] if found is None else found.tolist()
            return [(units, height // merge, width // merge) for units, height, width in rows]

        core = hf_model.model
        return Layout(
            core,
            core.language_model,
            hf_model.config.video_token_id,
            grids,
            cls._vision_block(core.visual).attn,
            partial(cls._patches_to_tokens, hf_model.config.vision_config),
            tower=core.visual,
            split=by_unit,
        )

    @classmethod
    def _vision_block(cls, tower: Any) -> Any:
        """The last block in which all patches of a frame pair see each other."""
        return tower.blocks[-1]

    @classmethod
    def _patches_to_tokens(
        cls, vision_config: Any, patches: Tensor, grids: list[tuple[int, int, int]]
    ) -> Tensor:
        """A token is the mean of its patches, which stand next to each other."""
        order = cls._token_order(vision_config, grids)
        rows = patches.unflatten(0, (-1, vision_config.spatial_merge_size**2)).mean(1)
        return rows[-len(order) :][order.to(rows.device)]

    @classmethod
    def _token_order(cls, vision_config: Any, grids: list[tuple[int, int, int]]) -> Tensor:
        """Patches are stored token by token: nothing to undo."""
        return torch.arange(sum(units * rows * columns for units, rows, columns in grids))

    def build_inputs(self, video: Video, text: str, max_pixels: int | None) -> Mapping[str, Any]:
        video = paired(video)
        tensors = self.processor(
            text=[text],
            videos=[video.frames],
            **self._times(video),
            size=self._size(len(video), max_pixels),
            cap_pixels_per_frame=True,
            return_tensors="pt",
        )
        inputs = {name: tensors[name] for name in tensors if name != "video_metadata"}
        check_pixels(inputs, self.processor.video_processor, max_pixels)
        return inputs

    def place_tokens(
        self, video: Video, inputs: Mapping[str, Any]
    ) -> tuple[tuple[int, int, int], Tensor, Tensor]:
        grid = self.layout.grids(inputs)[0]
        last = np.minimum(np.arange(grid[0]) * 2 + 1, len(video) - 1)
        seconds = np.stack([video.timestamps[::2], video.timestamps[last]], 1)
        return grid, torch.as_tensor(seconds), cells(grid[1], grid[2], video.source_size)

    def _times(self, video: Video) -> dict[str, Any]:
        """What the processor is told of the times of the frames, all of which it is to take."""
        return {"video_metadata": [frame_metadata(video)], "do_sample_frames": False}

    def _size(self, num_frames: int, max_pixels: int | None) -> dict[str, int]:
        """Bounds of the processor: Qwen3-VL counts the pixels of all frames together.

        Its cap per frame never goes below 1.05 times the lower bound, so that has to give way.
        """
        size = self.processor.video_processor.size
        low, high = int(size["shortest_edge"]), int(size["longest_edge"])
        if max_pixels is not None:
            low, high = min(low, int(max_pixels / num_frames / 1.06)), max_pixels
        return {"shortest_edge": max(low, 1), "longest_edge": high}
