"""VideoLLaMA3: frames in native resolution, encoded one by one, each after its time as text.

Zhang et al., "VideoLLaMA 3", 2025, arXiv:2501.13106. A token is the mean of 2x2 patches. The model
has a compression of its own, ``use_token_compression``, which drops tokens that repeat the previous
frame. It is switched off, so that a compressor gets all tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor

from gleanvid.models.base import ModelAdapter
from gleanvid.models.geometry import check_pixels
from gleanvid.models.hooks import Layout
from gleanvid.models.hooks.chunks import by_unit
from gleanvid.models.hooks.layout import Grid
from gleanvid.types import Video


class VideoLlama3(ModelAdapter):
    model_types: ClassVar[tuple[str, ...]] = ("video_llama_3",)

    @classmethod
    def layout_of(cls, hf_model: Any) -> Layout:
        core = hf_model.model
        return Layout(
            core=core,
            language_model=core.language_model,
            video_token_id=hf_model.config.video_token_id,
            grids=_grids,
            vision_attention=core.vision_model.encoder.layers[-1].self_attn,
            patches_to_tokens=_patches_to_tokens,
            tower=core.vision_model,
            split=by_unit,
        )

    def processor_options(self, video: Video, max_pixels: int | None) -> dict[str, Any]:
        return super().processor_options(video, max_pixels) | {
            "use_token_compression": False,
            "size": self._size(len(video), max_pixels),
        }

    def build_inputs(self, video: Video, text: str, max_pixels: int | None) -> Mapping[str, Any]:
        inputs = super().build_inputs(video, text, max_pixels)
        check_pixels(inputs, self.processor.video_processor, max_pixels)
        return inputs

    def _size(self, num_frames: int, max_pixels: int | None) -> dict[str, int]:
        """Return the bounds on pixels: the lower one per frame, the upper one for all frames."""
        size = self.processor.video_processor.size
        low, high = int(size["shortest_edge"]), int(size["longest_edge"])
        if max_pixels is not None:
            low, high = min(low, max_pixels // num_frames), max_pixels
        return {"shortest_edge": max(low, 1), "longest_edge": high}


def _grids(inputs: Mapping[str, Any]) -> list[Grid]:
    sizes, merges = inputs.get("video_grid_thw"), inputs.get("video_merge_sizes")
    if sizes is None or merges is None:
        return []
    pairs = zip(sizes.tolist(), merges.tolist(), strict=True)
    return [(units, rows // by, columns // by) for (units, rows, columns), by in pairs]


def _patches_to_tokens(patches: Tensor, grids: list[Grid]) -> Tensor:
    """Average the 4 patches of each video token; those of images come first and are left out."""
    total = sum(units * rows * columns for units, rows, columns in grids)
    return patches[-4 * total :].unflatten(0, (-1, 4)).mean(1)
