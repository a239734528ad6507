"""The model families, in the order menus show them. A new family is one file and one line here."""

from __future__ import annotations

from typing import Any

from gleanvid.models.base import ModelAdapter
from gleanvid.models.families.gemma4 import Gemma4
from gleanvid.models.families.glm4v import Glm4V
from gleanvid.models.families.internvl import InternVL
from gleanvid.models.families.llava_next_video import LlavaNextVideo
from gleanvid.models.families.llava_onevision import LlavaOnevision
from gleanvid.models.families.llava_video.adapter import LlavaVideo
from gleanvid.models.families.minicpmv import MiniCPMV
from gleanvid.models.families.molmo2 import Molmo2
from gleanvid.models.families.perception_lm import PerceptionLM
from gleanvid.models.families.qwen2_vl import Qwen2VL
from gleanvid.models.families.qwen3_omni import Qwen3Omni
from gleanvid.models.families.qwen3_vl import Qwen3VL
from gleanvid.models.families.qwen25_vl import Qwen25VL
from gleanvid.models.families.qwen35 import Qwen35
from gleanvid.models.families.smolvlm import SmolVLM
from gleanvid.models.families.video_llama3 import VideoLlama3
from gleanvid.types import ModelError


class Families(tuple[type[ModelAdapter], ...]):
    """Adapters, the first that fits being taken; it prints their names alone."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Families({', '.join(family.__name__ for family in self)})"


MODELS = Families(
    (
        Qwen3VL,
        Qwen25VL,
        Qwen2VL,
        Qwen3Omni,
        Glm4V,
        Gemma4,
        Molmo2,
        LlavaOnevision,
        LlavaVideo,
        LlavaNextVideo,
        PerceptionLM,
        SmolVLM,
        InternVL,
        VideoLlama3,
        Qwen35,
        MiniCPMV,
    )
)

REFUSED = {  # types that see videos and cannot be compressed, with the reason
    "qwen4_exp": "its indexer chooses what a layer reads among groups of neighbours, which "
    "would be other groups, and its cache keeps the positions of the whole prompt",
}


def family_of(config: Any, name: str) -> type[ModelAdapter]:
    """The adapter for a configuration. Raises ``ModelError`` naming what is supported."""
    for family in MODELS:
        if config.model_type in family.model_types:
            return family
    if config.model_type in REFUSED:
        raise ModelError(
            f"{name} is of type {config.model_type}, which cannot be compressed: "
            f"{REFUSED[config.model_type]}."
        )
    supported = ", ".join(kind for family in MODELS for kind in family.model_types)
    if getattr(config, "vision_config", None) is None:
        raise ModelError(
            f"{name} ({config.model_type}) is a text-only model and cannot see a video. "
            f"Supported model types: {supported}."
        )
    raise ModelError(f"{name} is of type {config.model_type}, which is not one of: {supported}.")
