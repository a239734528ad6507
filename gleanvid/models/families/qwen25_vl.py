"""Qwen2.5-VL (Bai et al., "Qwen2.5-VL Technical Report", 2025, arXiv:2502.13923).

Most blocks of the vision tower attend within windows. Positions in time follow the seconds.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from transformers.vision_utils import get_vision_window_index

from gleanvid.models.families.qwen_vl import QwenVL
from gleanvid.models.hooks.layout import Grid


class Qwen25VL(QwenVL):
    model_types: ClassVar[tuple[str, ...]] = ("qwen2_5_vl",)
    bounds_frames: ClassVar[bool] = True

    @classmethod
    def _vision_block(cls, tower: Any) -> Any:
        return tower.blocks[max(tower.fullatt_block_indexes)]

    @classmethod
    def _token_order(cls, vision_config: Any, grids: list[Grid]) -> Tensor:
        """Return the index of each grid token in the tower's order, which groups by window."""
        merge = vision_config.spatial_merge_size
        sizes = [(units, rows * merge, columns * merge) for units, rows, columns in grids]
        index, _ = get_vision_window_index(
            torch.tensor(sizes), merge, vision_config.window_size, vision_config.patch_size
        )
        return index.argsort()
