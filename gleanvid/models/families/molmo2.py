"""Molmo 2: square frames, each after its time as text; visual tokens attend to each other.

Clark et al., "Molmo2", 2026, arXiv:2601.10611. A token is a block of patches (3x3) pooled by
attention and added to the embedding of its placeholder; videos have the placeholder of images. All
visual tokens and the marks around frames see each other: for them the mask is not causal.
transformers makes the mask for all pairs of tokens before any is removed; it is then cut to the
kept tokens. transformers also pools the patches of all frames at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from gleanvid.models.base import ModelAdapter
from gleanvid.models.geometry import block_mean, check_frame_pixels
from gleanvid.models.hooks import Layout
from gleanvid.models.hooks.layout import Grid
from gleanvid.types import Video


class Molmo2(ModelAdapter):
    model_types: ClassVar[tuple[str, ...]] = ("molmo2",)

    @classmethod
    def layout_of(cls, hf_model: Any) -> Layout:
        core, config = hf_model.model, hf_model.config
        layers = core.vision_tower.layers
        last = max(layer % len(layers) for layer in config.adapter_config.vision_feature_layer)
        side = config.vision_config.image_size[0] // config.vision_config.patch_size
        return Layout(
            core=core,
            language_model=core.language_model,
            video_token_id=config.image_patch_id,
            grids=_grids,
            vision_attention=layers[last].self_attn,
            patches_to_tokens=partial(_patches_to_tokens, side),
            tower=core.vision_tower,
            masked=True,
        )

    def processor_options(self, video: Video, max_pixels: int | None) -> dict[str, Any]:
        side = self.processor.video_processor.size["height"]
        check_frame_pixels(self.name, side, video, max_pixels)
        return super().processor_options(video, max_pixels)


def _grids(inputs: Mapping[str, Any]) -> list[Grid]:
    grids = inputs.get("video_grids")
    return [] if grids is None else [(t, rows, columns) for t, rows, columns in grids.tolist()]


def _patches_to_tokens(side: int, patches: Tensor, grids: list[Grid]) -> Tensor:
    """Average the patches of each video token; those of images come first and are left out."""
    sizes = [units * side * side for units, _, _ in grids]
    parts = patches[-sum(sizes) :].split(sizes)
    pairs = zip(parts, grids, strict=True)
    return torch.cat(
        [
            block_mean(side // rows, part.unflatten(0, (units, -1))).flatten(0, 1)
            for part, (units, rows, _) in pairs
        ]
    )
