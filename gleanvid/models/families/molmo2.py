"""Molmo 2: squashed frames, each with its time in front, that all see each other in the prompt.

Clark et al., "Molmo2", 2026, arXiv:2601.10611. A token is a block of patches (3x3) pooled by
attention and added to the row of its placeholder, which is that of images. All visual tokens and
the marks around frames are one block in which the mask is not causal; it is cut to the tokens that
stay. transformers makes it of all pairs of tokens ahead of that (``results/mask_memory.md``), and
pools the patches of all frames at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from gleanvid.models.base import ModelAdapter
from gleanvid.models.boundary import Layout
from gleanvid.models.boundary.layout import Grid
from gleanvid.models.families.internvl import block_mean
from gleanvid.models.frames import frame_metadata
from gleanvid.models.geometry import cells
from gleanvid.types import ModelError, Video


class Molmo2(ModelAdapter):
    model_types: ClassVar[tuple[str, ...]] = ("molmo2",)

    @classmethod
    def layout_of(cls, hf_model: Any) -> Layout:
        core, config = hf_model.model, hf_model.config
        layers = core.vision_tower.layers
        last = max(layer % len(layers) for layer in config.adapter_config.vision_feature_layer)
        side = config.vision_config.image_size[0] // config.vision_config.patch_size
        return Layout(
            core,
            core.language_model,
            config.image_patch_id,
            _grids,
            layers[last].self_attn,
            partial(_patches_to_tokens, side),
            tower=core.vision_tower,
            masked=True,
        )

    def build_inputs(self, video: Video, text: str, max_pixels: int | None) -> Mapping[str, Any]:
        side = self.processor.video_processor.size["height"]
        if max_pixels is not None and max_pixels < len(video) * side * side:
            raise ModelError(
                f"{self.name} sees every frame at {side}x{side} pixels: {len(video)} frames do "
                f"not fit into max_pixels={max_pixels}. Use fewer frames."
            )
        tensors = self.processor(
            text=[text],
            videos=[video.frames],
            video_metadata=[frame_metadata(video)],
            do_sample_frames=False,
            return_tensors="pt",
        )
        return {name: tensors[name] for name in tensors if name != "video_metadata"}

    def place_tokens(self, video: Video, inputs: Mapping[str, Any]) -> tuple[Grid, Tensor, Tensor]:
        grid = self.layout.grids(inputs)[0]
        seconds = torch.as_tensor(video.timestamps)[:, None].expand(-1, 2)
        return grid, seconds, cells(grid[1], grid[2], video.source_size)


def _grids(inputs: Mapping[str, Any]) -> list[Grid]:
    found = inputs.get("video_grids")
    return [] if found is None else [(t, rows, columns) for t, rows, columns in found.tolist()]


def _patches_to_tokens(side: int, patches: Tensor, grids: list[Grid]) -> Tensor:
    """Means of blocks of a square of patches; frames of videos come last."""
    sizes = [units * side * side for units, _, _ in grids]
    parts = patches[-sum(sizes) :].split(sizes)
    pairs = zip(parts, grids, strict=True)
    return torch.cat(
        [
            block_mean(side // rows, part.unflatten(0, (units, -1))).flatten(0, 1)
            for part, (units, rows, _) in pairs
        ]
    )
