"""PerceptionLM (needs the package timm): 32x32 patches of a frame pooled to 16x16 tokens.

Cho et al., "PerceptionLM: Open-Access Data and Models for Detailed Visual Understanding", 2025,
arXiv:2504.13180. Frames are resized to squares. The model has no newline tokens and encodes videos
with the same method as images.
"""

from __future__ import annotations

from typing import Any, ClassVar

from gleanvid.models.families.square_frames import SquareFrames, Tower


class PerceptionLM(SquareFrames):
    model_types: ClassVar[tuple[str, ...]] = ("perception_lm",)
    vision_method: ClassVar[str] = "get_image_features"

    @classmethod
    def tower_of(cls, hf_model: Any) -> Tower:
        core, timm = hf_model.model, hf_model.model.vision_tower.timm_model
        return Tower(
            module=core.vision_tower,
            attention=timm.blocks[-1].attn,
            image=timm.patch_embed.img_size[0],
            patch=timm.patch_embed.patch_size[0],
            stride=hf_model.config.projector_pooling_ratio,
            pooling=core.multi_modal_projector.pooling,
            prefix_rows=timm.num_prefix_tokens,
        )
