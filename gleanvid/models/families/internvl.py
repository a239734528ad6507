"""InternVL3: every frame is an image, announced as "Frame1:", "Frame2:" ...

Zhu et al., "InternVL3", 2025, arXiv:2504.10479. A frame is resized to a square, whatever its
shape. Pixel shuffle puts 2x2 patches into one token. The prompt does not tell the times of frames.
"""

from __future__ import annotations

from typing import Any, ClassVar

from gleanvid.models.families.square_frames import FramesAsImages, Tower, layer_in_use


class InternVL(FramesAsImages):
    model_types: ClassVar[tuple[str, ...]] = ("internvl",)
    announcement: ClassVar[str] = r"Frame(\d+):"

    @classmethod
    def tower_of(cls, hf_model: Any) -> Tower:
        config, module = hf_model.config, hf_model.model.vision_tower
        return Tower(
            module=module,
            attention=layer_in_use(module.encoder.layer, config.vision_feature_layer).attention,
            image=_side(config.vision_config.image_size),
            patch=_side(config.vision_config.patch_size),
            stride=round(1 / config.downsample_ratio),
            prefix_rows=1,  # a class token, which the language model does not see
        )

    @property
    def anchor(self) -> str:
        return self.processor.tokenizer.end_image_token


def _side(size: int | list[int]) -> int:
    return size if isinstance(size, int) else size[0]
