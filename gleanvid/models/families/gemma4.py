"""Gemma 4: single frames, each after its time as text; most layers use windowed attention.

Gemma team, "Gemma 4", 2026. A token is the mean of a block of patches (3x3). In the smaller models,
every layer has an extra input per token, which is dropped with the token. In the larger models, the
tokens of a frame see each other within a window. Windows span positions of the uncompressed prompt.

If a prompt is longer than a window, transformers makes masks of all pairs of its tokens before any
token is removed. The last layers of the smaller models read the keys of earlier layers, so no token
can be removed inside the language model. Videos with sound are refused. The unified model has no
vision tower: a token is a block of pixels, without saliency.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from gleanvid.models.base import ModelAdapter
from gleanvid.models.geometry import blocks_to_tokens
from gleanvid.models.hooks import Layout
from gleanvid.models.hooks.layout import Grid
from gleanvid.types import ModelError, Video

# limits on the tokens per frame from which the processor can choose
_TOKENS = (1120, 560, 280, 140, 70)


class Gemma4(ModelAdapter):
    model_types: ClassVar[tuple[str, ...]] = ("gemma4", "gemma4_unified")
    unread: ClassVar[tuple[str, ...]] = ("video_metadata", "num_soft_tokens_per_video")

    @classmethod
    def layout_of(cls, hf_model: Any) -> Layout:
        core = hf_model.model
        tower = getattr(core, "vision_tower", None)
        block = 1 if tower is None else hf_model.config.vision_config.pooling_kernel_size
        implementation = core.language_model.config._attn_implementation
        if implementation != "sdpa":
            raise ModelError(
                f"attn_implementation={implementation!r} cannot keep the attention windows of "
                "Gemma 4 under compression: use 'sdpa'."
            )
        return Layout(
            core=core,
            language_model=core.language_model,
            video_token_id=hf_model.config.video_token_id,
            grids=partial(_grids, block),
            vision_attention=None if tower is None else tower.encoder.layers[-1].self_attn,
            patches_to_tokens=partial(blocks_to_tokens, block),
            tower=core.embed_vision if tower is None else tower,
            windows=True,
            masked=True,
            ahead_only="layers of this language model share keys, and windows count all tokens",
        )

    def processor_options(self, video: Video, max_pixels: int | None) -> dict[str, Any]:
        return super().processor_options(video, max_pixels) | {
            "max_soft_tokens": self._most_tokens(len(video), max_pixels),
            "add_special_tokens": False,  # the chat template writes them
        }

    def _most_tokens(self, num_frames: int, max_pixels: int | None) -> int:
        """Return the highest limit on the tokens per frame that ``max_pixels`` allows.

        If ``max_pixels`` is None, it is the processor's own limit. Raises ``ModelError`` if all
        frames together exceed ``max_pixels`` even with the lowest limit.
        """
        processor = self.processor.video_processor
        if max_pixels is None:
            return processor.max_soft_tokens
        frame = (processor.pooling_kernel_size * processor.patch_size) ** 2 * num_frames
        most = next((tokens for tokens in _TOKENS if tokens * frame <= max_pixels), None)
        if most is None:
            raise ModelError(
                f"max_pixels={max_pixels} is too small for this clip, which takes at least "
                f"{_TOKENS[-1] * frame} pixels: use fewer frames or a higher max_pixels."
            )
        return most


def _grids(block: int, inputs: Mapping[str, Any]) -> list[Grid]:
    """Return the grids of all videos, read from the patch positions (x, y); -1 is padding."""
    if inputs.get("input_features") is not None:
        raise ModelError(
            "input_features: a video with sound cannot be compressed; remove the sound."
        )
    places, counts = inputs.get("video_position_ids"), inputs.get("num_frames_per_video")
    if places is None or counts is None:
        return []
    sizes = [(frames[0].amax(0) + 1).tolist() for frames in places.split(counts.tolist())]
    pairs = zip(counts.tolist(), sizes, strict=True)
    return [(count, rows // block, columns // block) for count, (columns, rows) in pairs]
