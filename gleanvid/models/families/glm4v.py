"""GLM-4.1V, GLM-4.5V and GLM-4.6V: pairs of frames between image marks, the time after each.

Hong et al., "GLM-4.1V-Thinking and GLM-4.5V", 2025, arXiv:2507.01006. Positions are as in
Qwen2.5-VL, but their time starts again with every pair. Videos have the placeholder of images, so
neither transformers nor a compressor can tell the images of a prompt from its video.
"""

from __future__ import annotations

from typing import ClassVar

from gleanvid.models.families.qwen_vl import QwenVL


class Glm4V(QwenVL):
    model_types: ClassVar[tuple[str, ...]] = ("glm4v", "glm46v", "glm4v_moe")
    placeholder: ClassVar[str] = "image_token_id"
