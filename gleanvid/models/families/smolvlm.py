"""SmolVLM2: every frame is an image, with its time as text before it.

Marafioti et al., "SmolVLM", 2025, arXiv:2504.05299. A frame is resized to a square, whatever its
shape. Pixel shuffle puts a block of patches into one token (4x4 in SmolVLM2 2.2B, 3x3 in some
others). The processor needs the package num2words.
"""

from __future__ import annotations

from typing import Any, ClassVar

from gleanvid.models.families.square_frames import FramesAsImages, Tower
from gleanvid.types import Video


class SmolVLM(FramesAsImages):
    model_types: ClassVar[tuple[str, ...]] = ("smolvlm",)
    announcement: ClassVar[str] = r"Frame from \d+:\d\d:"
    # The model does not need pixel_attention_mask, which is all ones.
    unread: ClassVar[tuple[str, ...]] = ("video_metadata", "pixel_attention_mask", "rows", "cols")
    outro: ClassVar[str] = "\n\n"
    text_part: ClassVar[str] = "text_model"

    @classmethod
    def tower_of(cls, hf_model: Any) -> Tower:
        config, module = hf_model.config, hf_model.model.vision_model
        return Tower(
            module=module,
            attention=module.encoder.layers[-1].self_attn,
            image=config.vision_config.image_size,
            patch=config.vision_config.patch_size,
            stride=config.scale_factor,
        )

    @property
    def anchor(self) -> str:
        return self.processor.fake_image_token

    def processor_options(self, video: Video, max_pixels: int | None) -> dict[str, Any]:
        # a list of a list, as transformers 5.17 counts the videos by its length
        return super().processor_options(video, max_pixels) | {"videos": [[video.frames]]}
