"""The supported model families, in the order of the menus.

A new family needs a module with its adapter and an entry in the list below.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from gleanvid.plugins import Registry
from gleanvid.types import ModelError

_OWN: tuple[type[ModelAdapter], ...] = (
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


def _types(family: type[ModelAdapter], known: object) -> Iterator[str]:
    kinds = getattr(family, "model_types", None)
    if not kinds or not isinstance(kinds, tuple):
        raise ValueError(f"{family.__name__}.model_types={kinds!r} must be a tuple of model types")
    yield from kinds


MODELS = Registry(  # config.model_type -> adapter class of its family
    {kind: family for family in _OWN for kind in family.model_types}, _types
)


def family_of(config: Any, name: str) -> type[ModelAdapter]:
    """Return the adapter class for ``config``, the configuration of the model ``name``.

    Raises ``ModelError`` if the type is not supported.
    """
    if config.model_type in MODELS:
        return MODELS[config.model_type]
    supported = ", ".join(MODELS)
    if getattr(config, "vision_config", None) is None:
        raise ModelError(
            f"{name} ({config.model_type}) is a text-only model and cannot see a video. "
            f"Supported model types: {supported}."
        )
    raise ModelError(f"{name} is of type {config.model_type}, which is not one of: {supported}.")
