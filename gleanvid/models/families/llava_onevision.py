"""LLaVA-OneVision, and what all models share that see each frame as one square picture.

Li et al., "LLaVA-OneVision: Easy Visual Task Transfer", TMLR 2025, arXiv:2408.03326. A frame is
squashed onto a square, goes through the tower alone and is pooled from 27x27 patches to 14x14
tokens; one newline token follows the last frame and stays as long as the video does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from gleanvid.models.base import ModelAdapter
from gleanvid.models.boundary import Layout
from gleanvid.models.boundary.layout import Grid
from gleanvid.models.geometry import cells
from gleanvid.types import ModelError, Video


class LlavaOnevision(ModelAdapter):
    model_types: ClassVar[tuple[str, ...]] = ("llava_onevision",)
    vision_method: ClassVar[str] = "get_video_features"

    @classmethod
    def layout_of(cls, hf_model: Any) -> Layout:
        core, config = hf_model.model, hf_model.config
        side = cls._tokens_per_side(hf_model)

        def grids(inputs: Mapping[str, Any]) -> list[Grid]:
            pixels = inputs.get("pixel_values_videos")
            return [] if pixels is None else [(len(video), side, side) for video in pixels]

        return Layout(
            core,
            core.language_model,
            config.video_token_id,
            grids,
            cls._vision_attention(hf_model),
            partial(cls._patches_to_tokens, hf_model),
            partial(cls._sides, config),
            cls.vision_method,
            core.vision_tower,
        )

    @classmethod
    def _pooling(cls, hf_model: Any) -> Callable[[Tensor], Tensor]:
        """The model's own map from rows per patch [T, P, C] to rows per token [T, N, C]."""
        return hf_model.model.apply_pooling

    @classmethod
    def _vision_size(cls, hf_model: Any) -> tuple[int, int]:
        """Pixels a side of a frame, and of a patch."""
        config = hf_model.config.vision_config
        return config.image_size, config.patch_size

    @classmethod
    def _vision_attention(cls, hf_model: Any) -> Any:
        """That of the last layer in use: hidden_states[-k] is what layers[-k] leaves."""
        used = hf_model.config.vision_feature_layer
        used = used if isinstance(used, int) else used[-1]
        tower = hf_model.model.vision_tower
        layers = getattr(tower, "vision_model", tower).encoder.layers
        return layers[used if used < 0 else used - 1].self_attn

    @classmethod
    def _sides(cls, config: Any, grid: Grid) -> Tensor:
        """The newline behind the last frame belongs to all of the video."""
        total = grid[0] * grid[1] * grid[2]
        return torch.tensor([[total, 0, total]])

    @classmethod
    def _tokens_per_side(cls, hf_model: Any) -> int:
        image, patch = cls._vision_size(hf_model)
        rows = torch.zeros(1, (image // patch) ** 2, 1)
        return round(cls._pooling(hf_model)(rows).shape[1] ** 0.5)

    @classmethod
    def _patches_to_tokens(cls, hf_model: Any, patches: Tensor, grids: list[Grid]) -> Tensor:
        """Pooled as the features are, without a class token's row if the tower has one."""
        image, patch = cls._vision_size(hf_model)
        frames, real = sum(grid[0] for grid in grids), (image // patch) ** 2
        rows = patches.unflatten(0, (-1, cls._rows_per_frame(hf_model, real)))[-frames:, -real:]
        return cls._pooling(hf_model)(rows).flatten(0, 1)

    @classmethod
    def _rows_per_frame(cls, hf_model: Any, patches: int) -> int:
        return patches + (hf_model.config.vision_feature_select_strategy == "default")

    def _check_pixels(self, video: Video, max_pixels: int | None) -> None:
        """Raises ``ModelError`` where the frames, all of one size, are more than is allowed."""
        image, _ = self._vision_size(self.hf_model)
        if max_pixels is not None and max_pixels < len(video) * image * image:
            raise ModelError(
                f"{self.name} sees every frame at {image}x{image} pixels: {len(video)} frames do "
                f"not fit into max_pixels={max_pixels}. Use fewer frames."
            )

    def build_inputs(self, video: Video, text: str, max_pixels: int | None) -> Mapping[str, Any]:
        self._check_pixels(video, max_pixels)
        tensors = self.processor(
            text=[text], videos=[video.frames], do_sample_frames=False, return_tensors="pt"
        )
        return {name: tensors[name] for name in tensors if name != "video_metadata"}

    def place_tokens(self, video: Video, inputs: Mapping[str, Any]) -> tuple[Grid, Tensor, Tensor]:
        """Each frame is a unit. What the tower's patches or the pooling leave out is nobody's."""
        grid = self.layout.grids(inputs)[0]
        image, patch = self._vision_size(self.hf_model)
        pooled = min(grid[1] * self._stride(self.hf_model.config), image // patch)
        seen = pooled * patch / image  # share of the view's width and height
        left, top, right, bottom = self._view(video)
        boxes = cells(grid[1], grid[2], ((bottom - top) * seen, (right - left) * seen))
        seconds = torch.as_tensor(video.timestamps)[:, None].expand(-1, 2)
        return grid, seconds, boxes + torch.tensor([left, top, left, top])

    @classmethod
    def _stride(cls, config: Any) -> int:
        """Patches a side that are pooled into a token."""
        return 2

    def _view(self, video: Video) -> tuple[float, float, float, float]:
        """The rectangle of the source (left, top, right, bottom) that the model is shown."""
        return 0.0, 0.0, float(video.source_size[1]), float(video.source_size[0])
