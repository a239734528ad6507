"""Qwen2-VL (Wang et al., "Qwen2-VL", 2024, arXiv:2409.12191).

Positions in time count pairs of frames, not seconds, and the prompt does not tell their times.
"""

from __future__ import annotations

from typing import ClassVar

from gleanvid.models.families.qwen_vl import QwenVL


class Qwen2VL(QwenVL):
    model_types: ClassVar[tuple[str, ...]] = ("qwen2_vl",)
    bounds_frames: ClassVar[bool] = True
