"""InternVL3: every frame is an image of its own, announced as "Frame1:", "Frame2:" ...

Zhu et al., "InternVL3", 2025, arXiv:2504.10479. A frame is squashed onto a square; pixel shuffle
puts 2x2 patches into one token. The prompt says nothing of time. Images beside a video in your own
prompts count as frames of it, several videos of one prompt as one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from gleanvid.models.boundary import Layout
from gleanvid.models.boundary.layout import Grid
from gleanvid.models.families.llava_onevision import LlavaOnevision


class InternVL(LlavaOnevision):
    model_types: ClassVar[tuple[str, ...]] = ("internvl",)
    pixel_input: ClassVar[str] = "pixel_values"
    vision_method: ClassVar[str] = "get_image_features"

    @classmethod
    def layout_of(cls, hf_model: Any) -> Layout:
        side, token = cls._tokens_per_side(hf_model), hf_model.config.image_token_id
        return Layout(
            hf_model.model,
            cls._language_model(hf_model),
            token,
            partial(frames_in_prompt, token, side),
            cls._vision_attention(hf_model),
            partial(cls._patches_to_tokens, hf_model),
            vision_method=cls.vision_method,
            tower=cls._tower(hf_model),
        )

    @classmethod
    def _language_model(cls, hf_model: Any) -> Any:
        return hf_model.model.language_model

    @classmethod
    def _tower(cls, hf_model: Any) -> Any:
        return hf_model.model.vision_tower

    @classmethod
    def _vision_attention(cls, hf_model: Any) -> Any:
        used = hf_model.config.vision_feature_layer
        layers = cls._tower(hf_model).encoder.layer
        return layers[used if used < 0 else used - 1].attention

    @classmethod
    def _vision_size(cls, hf_model: Any) -> tuple[int, int]:
        config = hf_model.config.vision_config
        image, patch = config.image_size, config.patch_size
        return (image if isinstance(image, int) else image[0]), (
            patch if isinstance(patch, int) else patch[0]
        )

    @classmethod
    def _stride(cls, config: Any) -> int:
        return round(1 / config.downsample_ratio)

    @classmethod
    def _pooling(cls, hf_model: Any) -> Callable[[Tensor], Tensor]:
        return partial(block_mean, cls._stride(hf_model.config))

    @classmethod
    def _rows_per_frame(cls, hf_model: Any, patches: int) -> int:
        """The tower has a class token, which the language model never gets to see."""
        return patches + 1

    @property
    def _anchor(self) -> str:
        return self.processor.tokenizer.end_image_token


def block_mean(factor: int, rows: Tensor) -> Tensor:
    """[T, P, C] of a square of patches to [T, P / factor^2, C], row by row."""
    side = round(rows.shape[1] ** 0.5) // factor
    return rows.unflatten(1, (side, factor, side, factor)).mean((2, 4)).flatten(1, 2)


def frames_in_prompt(token: int, side: int, inputs: Mapping[str, Any]) -> list[Grid]:
    """One video per row of the prompt, as many frames as it has placeholders for."""
    pixels, ids = inputs.get("pixel_values"), inputs.get("input_ids")
    if pixels is None:
        return []
    if ids is None:
        return [(int(torch.tensor(pixels.shape[:-3]).prod()), side, side)]
    counts = ((ids == token).sum(1) // (side * side)).tolist()
    return [(count, side, side) for count in counts if count]
