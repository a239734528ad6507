"""The thinker of Qwen3-Omni: video in, text out, with DeepStack features as in Qwen3-VL.

Xu et al., "Qwen3-Omni Technical Report", 2025, arXiv:2509.17765. The talker, which speaks, is not
loaded. Positions in time follow the seconds, 13 per second in the published models. The prompt does
not tell the times of frames. Sound is refused, as its tokens are placed between those of the video.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from transformers import AutoModelForImageTextToText, Qwen3OmniMoeConfig

from gleanvid.models.families.qwen_vl import QwenVL
from gleanvid.models.frames import paired
from gleanvid.models.hooks import Layout
from gleanvid.models.hooks.layout import Grid
from gleanvid.types import ModelError, Video

_FRAME = 768 * 32 * 32  # the processor's default bound on the pixels of a frame
_SOUND = ("input_features", "feature_attention_mask", "use_audio_in_video")


class ThinkerAlone:
    """Model class that loads only the thinker from the checkpoint of a whole Qwen3-Omni."""

    config_class = Qwen3OmniMoeConfig

    @staticmethod
    def from_pretrained(source: str, *more: Any, config: Any, **options: Any) -> Any:
        from transformers import Qwen3OmniMoeThinkerForConditionalGeneration

        thinker: Any = Qwen3OmniMoeThinkerForConditionalGeneration
        return thinker.from_pretrained(source, *more, config=config.thinker_config, **options)


AutoModelForImageTextToText.register(Qwen3OmniMoeConfig, ThinkerAlone, exist_ok=True)


class Qwen3Omni(QwenVL):
    model_types: ClassVar[tuple[str, ...]] = ("qwen3_omni_moe", "qwen3_omni_moe_thinker")
    bounds_frames: ClassVar[bool] = True

    @classmethod
    def layout_of(cls, hf_model: Any) -> Layout:
        if hasattr(hf_model, "thinker"):
            raise ModelError("A whole Qwen3-Omni also speaks: pass its model.thinker instead.")
        if not hasattr(hf_model.model, "visual"):
            raise ModelError("Qwen3-Omni needs a newer version of transformers, such as 5.23.")
        layout = super().layout_of(hf_model)

        def grids(inputs: Mapping[str, Any]) -> list[Grid]:
            sound = next((name for name in _SOUND if inputs.get(name) is not None), None)
            if sound:
                raise ModelError(
                    f"{sound}: a video with sound cannot be compressed; remove the sound."
                )
            return layout.grids(inputs)

        return replace(layout, grids=grids)

    @property
    def video_token(self) -> str:
        """The video placeholder and the end mark after it.

        The encoded prefix must have the end mark, as transformers computes positions as if one
        followed every video.
        """
        return self.processor.video_token + self.anchor

    @property
    def anchor(self) -> str:
        return self.processor.vision_eos_token

    def processor_options(self, video: Video, max_pixels: int | None) -> dict[str, Any]:
        video = paired(video)
        span = float(video.timestamps[-1] - video.timestamps[0])
        rate = (len(video) - 1) / span if span > 0 else 1.0
        return super().processor_options(video, max_pixels) | {"fps": rate}

    def _size(self, num_frames: int, max_pixels: int | None) -> dict[str, int]:
        size = super()._size(num_frames, max_pixels)
        return size if max_pixels else {name: min(size[name], _FRAME) for name in size}
