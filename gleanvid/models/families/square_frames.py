"""Base classes of families that resize each frame to a square and pool its patches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from gleanvid.models.base import ModelAdapter
from gleanvid.models.families.announced import FrameReader, tokenizer_of
from gleanvid.models.geometry import block_mean, cells, check_frame_pixels
from gleanvid.models.hooks import Layout
from gleanvid.models.hooks.layout import Grid, no_sides
from gleanvid.types import Video


@dataclass(frozen=True, kw_only=True)
class Tower:
    """A vision tower for square frames, and the pooling after it.

    Args:
        module: the tower.
        attention: the tower's last attention layer whose output reaches the language model.
        image: pixels along a side of a frame.
        patch: pixels along a side of a patch.
        stride: patches along a side of a token.
        pooling: turns P patches per frame into N tokens, [T, P, C] to [T, N, C]; None: the mean of
            each token's block of patches.
        prefix_rows: number of unused outputs before the patches of a frame, such as a class token.
    """

    module: nn.Module
    attention: nn.Module
    image: int
    patch: int
    stride: int
    pooling: Callable[[Tensor], Tensor] | None = None
    prefix_rows: int = 0

    @property
    def patches(self) -> int:
        """Number of patches along one side of a square frame."""
        return self.image // self.patch

    @property
    def tokens(self) -> int:
        """Number of tokens along one side of a square frame."""
        return round(self.pool(torch.zeros(1, self.patches**2, 1)).shape[1] ** 0.5)

    def pool(self, rows: Tensor) -> Tensor:
        return block_mean(self.stride, rows) if self.pooling is None else self.pooling(rows)

    def patches_to_tokens(self, patches: Tensor, grids: list[Grid]) -> Tensor:
        """Pool the tower's outputs [n, C] to one row per token of the videos.

        The pooling is that of the model. Outputs for images come first and are left out.
        """
        frames, real = sum(grid[0] for grid in grids), self.patches**2
        rows = patches.unflatten(0, (-1, self.prefix_rows + real))[-frames:, -real:]
        return self.pool(rows).flatten(0, 1)


def layer_in_use(layers: Any, hidden_state: int) -> Any:
    """Return the layer whose output transformers calls ``hidden_states[hidden_state]``."""
    return layers[hidden_state if hidden_state < 0 else hidden_state - 1]


def llava_tower(hf_model: Any, pooling: Callable[[Tensor], Tensor], stride: int) -> Tower:
    """Return the CLIP or SigLIP tower of a LLaVA model; ``pooling``, ``stride``: see Tower."""
    config, module = hf_model.config, hf_model.model.vision_tower
    used = config.vision_feature_layer
    layers = getattr(module, "vision_model", module).encoder.layers
    return Tower(
        module=module,
        attention=layer_in_use(layers, used if isinstance(used, int) else used[-1]).self_attn,
        image=config.vision_config.image_size,
        patch=config.vision_config.patch_size,
        stride=stride,
        pooling=pooling,
        prefix_rows=int(config.vision_feature_select_strategy == "default"),
    )


class SquareFrames(ModelAdapter):
    """Base class of families with square frames whose processor takes them as a video."""

    placeholder: ClassVar[str] = "video_token_id"  # configuration's name for the placeholder id
    vision_method: ClassVar[str] = "get_video_features"
    text_part: ClassVar[str] = "language_model"

    @classmethod
    @abstractmethod
    def tower_of(cls, hf_model: Any) -> Tower:
        """Return the vision tower of ``hf_model``."""

    @classmethod
    def layout_of(cls, hf_model: Any) -> Layout:
        tower, core = cls.tower_of(hf_model), hf_model.model
        token = getattr(hf_model.config, cls.placeholder)
        return Layout(
            core=core,
            language_model=getattr(core, cls.text_part),
            video_token_id=token,
            grids=cls.grids_of(token, tower.tokens),
            vision_attention=tower.attention,
            patches_to_tokens=tower.patches_to_tokens,
            sides=partial(cls.sides, hf_model.config),
            vision_method=cls.vision_method,
            tower=tower.module,
        )

    @classmethod
    def grids_of(cls, token: int, side: int) -> Callable[[Mapping[str, Any]], list[Grid]]:
        """Return ``Layout.grids`` for ``side`` x ``side`` tokens a frame, with the id ``token``."""

        def grids(inputs: Mapping[str, Any]) -> list[Grid]:
            pixels = inputs.get("pixel_values_videos")
            return [] if pixels is None else [(len(video), side, side) for video in pixels]

        return grids

    @classmethod
    def sides(cls, config: Any, grid: Grid) -> Tensor:
        """Return ``Layout.sides``, placeholders outside the grid: none here, int64 [0, 3]."""
        return no_sides(grid)

    def check_pixels(self, video: Video, max_pixels: int | None) -> None:
        """Raise ``ModelError`` if the frames, resized to squares, exceed ``max_pixels``."""
        check_frame_pixels(self.name, self.tower_of(self.hf_model).image, video, max_pixels)

    def processor_options(self, video: Video, max_pixels: int | None) -> dict[str, Any]:
        self.check_pixels(video, max_pixels)
        return super().processor_options(video, max_pixels)

    def place_tokens(self, video: Video, inputs: Mapping[str, Any]) -> tuple[Grid, Tensor, Tensor]:
        """Return grid, times and rectangles of the tokens, as ``ModelAdapter.place_tokens`` does.

        Each frame is a unit. Pixels that the patches or the pooling leave out belong to no token.
        """
        grid, seconds, _ = super().place_tokens(video, inputs)
        tower = self.tower_of(self.hf_model)
        pooled = min(grid[1] * tower.stride, tower.patches)
        # The tokens cover this fraction of the visible height and of the visible width.
        seen = pooled * tower.patch / tower.image
        left, top, right, bottom = self.view(video)
        boxes = cells(grid[1], grid[2], ((bottom - top) * seen, (right - left) * seen))
        return grid, seconds, boxes + torch.tensor([left, top, left, top])

    def view(self, video: Video) -> tuple[float, float, float, float]:
        """Rectangle of the source (left, top, right, bottom) that the model sees, in px."""
        return 0.0, 0.0, float(video.source_size[1]), float(video.source_size[0])


class FramesAsImages(SquareFrames):
    """Base class of families with square frames that are passed as images.

    ``announcement``: regular expression of the text before a frame, see ``FrameReader``.
    """

    pixel_input: ClassVar[str] = "pixel_values"
    placeholder: ClassVar[str] = "image_token_id"
    vision_method: ClassVar[str] = "get_image_features"
    announcement: ClassVar[str]

    @classmethod
    def layout_with(cls, hf_model: Any, processor: Any) -> Layout:
        layout, side = cls.layout_of(hf_model), cls.tower_of(hf_model).tokens
        tokenizer = tokenizer_of(hf_model, processor)
        reader = FrameReader(tokenizer, layout.video_token_id, side * side, cls.announcement)
        return replace(layout, grids=partial(_grids, reader, side), frames=reader.read)


def _grids(reader: FrameReader, side: int, inputs: Mapping[str, Any]) -> list[Grid]:
    """Return the grids of all videos in the prompts."""
    pixels, ids = inputs.get("pixel_values"), inputs.get("input_ids")
    if pixels is None or ids is None:
        return []
    return [(count, side, side) for videos in reader.read(ids).frames for count in videos]
