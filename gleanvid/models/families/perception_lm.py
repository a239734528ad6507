"""PerceptionLM (needs the package timm): squashed frames, 32x32 patches pooled to 16x16 tokens.

Cho et al., "PerceptionLM: Open-Access Data and Models for Detailed Visual Understanding", 2025,
arXiv:2504.13180. No newlines; videos go through the same method as images.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from torch import Tensor

from gleanvid.models.boundary.layout import Grid, no_sides
from gleanvid.models.families.llava_onevision import LlavaOnevision


class PerceptionLM(LlavaOnevision):
    model_types: ClassVar[tuple[str, ...]] = ("perception_lm",)
    vision_method: ClassVar[str] = "get_image_features"

    @classmethod
    def _pooling(cls, hf_model: Any) -> Callable[[Tensor], Tensor]:
        return hf_model.model.multi_modal_projector.pooling

    @classmethod
    def _vision_size(cls, hf_model: Any) -> tuple[int, int]:
        patches = hf_model.model.vision_tower.timm_model.patch_embed
        return patches.img_size[0], patches.patch_size[0]

    @classmethod
    def _vision_attention(cls, hf_model: Any) -> Any:
        return hf_model.model.vision_tower.timm_model.blocks[-1].attn

    @classmethod
    def _rows_per_frame(cls, hf_model: Any, patches: int) -> int:
        return patches + hf_model.model.vision_tower.timm_model.num_prefix_tokens

    @classmethod
    def _stride(cls, config: Any) -> int:
        return config.projector_pooling_ratio

    @classmethod
    def _sides(cls, config: Any, grid: Grid) -> Tensor:
        return no_sides(grid)
