"""SmolVLM2: every frame is an image of its own, with the time it was taken in front of it.

Marafioti et al., "SmolVLM", 2025, arXiv:2504.05299. A frame is squashed onto a square; pixel
shuffle puts a block of patches (4x4 in SmolVLM2 2.2B's, 3x3 in some) into one token. The processor
needs the package num2words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gleanvid.models.families.internvl import InternVL
from gleanvid.models.frames import frame_metadata
from gleanvid.types import Video


class SmolVLM(InternVL):
    model_types: ClassVar[tuple[str, ...]] = ("smolvlm",)
    outro: ClassVar[str] = "\n\n"

    @classmethod
    def _language_model(cls, hf_model: Any) -> Any:
        return hf_model.model.text_model

    @classmethod
    def _tower(cls, hf_model: Any) -> Any:
        return hf_model.model.vision_model

    @classmethod
    def _vision_attention(cls, hf_model: Any) -> Any:
        return cls._tower(hf_model).encoder.layers[-1].self_attn

    @classmethod
    def _stride(cls, config: Any) -> int:
        return config.scale_factor

    @classmethod
    def _rows_per_frame(cls, hf_model: Any, patches: int) -> int:
        return patches

    @property
    def _anchor(self) -> str:
        return self.processor.fake_image_token

    def build_inputs(self, video: Video, text: str, max_pixels: int | None) -> Mapping[str, Any]:
        self._check_pixels(video, max_pixels)
        tensors = self.processor(
            text=[text],
            videos=[[video.frames]],  # a list per prompt: transformers 5.17 counts its length
            video_metadata=[frame_metadata(video)],
            do_sample_frames=False,
            return_tensors="pt",
        )
        unread = ("video_metadata", "pixel_attention_mask", "rows", "cols")  # the mask is all ones
        return {name: tensors[name] for name in tensors if name not in unread}
