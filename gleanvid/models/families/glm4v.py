"""GLM-4.1V, GLM-4.5V and GLM-4.6V: pairs of frames between marks of an image, the time behind each.

Hong et al., "GLM-4.1V-Thinking and GLM-4.5V", 2025, arXiv:2507.01006. Positions as in Qwen2.5-VL,
begun anew with every pair. The placeholder is that of images, also in a video, so transformers
cannot tell images beside a video in one prompt from it, and neither can a compressor.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from gleanvid.models.boundary import Layout
from gleanvid.models.families.qwen3_vl import Qwen3VL


class Glm4V(Qwen3VL):
    model_types: ClassVar[tuple[str, ...]] = ("glm4v", "glm46v", "glm4v_moe")

    @classmethod
    def layout_of(cls, hf_model: Any) -> Layout:
        token = hf_model.config.image_token_id
        return replace(super().layout_of(hf_model), video_token_id=token)
