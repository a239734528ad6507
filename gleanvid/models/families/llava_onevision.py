"""LLaVA-OneVision: frames resized to squares, 27x27 patches pooled to 14x14 tokens.

Li et al., "LLaVA-OneVision: Easy Visual Task Transfer", TMLR 2025, arXiv:2408.03326. One newline
token follows the last frame and is always kept.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor

from gleanvid.models.families.square_frames import SquareFrames, Tower, llava_tower
from gleanvid.models.hooks.layout import Grid


class LlavaOnevision(SquareFrames):
    model_types: ClassVar[tuple[str, ...]] = ("llava_onevision",)

    @classmethod
    def tower_of(cls, hf_model: Any) -> Tower:
        return llava_tower(hf_model, hf_model.model.apply_pooling, stride=2)

    @classmethod
    def sides(cls, config: Any, grid: Grid) -> Tensor:
        total = grid[0] * grid[1] * grid[2]
        return torch.tensor([[total, 0, total]])
