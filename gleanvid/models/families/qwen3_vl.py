"""Qwen3-VL, dense and mixture of experts (Bai et al., "Qwen3-VL Technical Report", 2025).

The prompt gives the time of every pair of frames as text.
"""

from __future__ import annotations

from typing import ClassVar

from gleanvid.models.families.qwen_vl import QwenVL


class Qwen3VL(QwenVL):
    model_types: ClassVar[tuple[str, ...]] = ("qwen3_vl", "qwen3_vl_moe")
