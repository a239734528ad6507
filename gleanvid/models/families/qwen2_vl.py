"""Qwen2-VL (Wang et al., "Qwen2-VL", 2024, arXiv:2409.12191): the first of the line.

Positions count pairs of frames, not seconds; the prompt says nothing of time. The processor bounds
the pixels of one frame.
"""

from __future__ import annotations

from typing import ClassVar

from gleanvid.models.families.qwen3_vl import Qwen3VL


class Qwen2VL(Qwen3VL):
    model_types: ClassVar[tuple[str, ...]] = ("qwen2_vl",)

    def _size(self, num_frames: int, max_pixels: int | None) -> dict[str, int]:
        """Bounds of one frame. What is under the lower one is rounded up, so it must not be near
        the upper one."""
        most = max_pixels and max(1, max_pixels // num_frames)
        size = super()._size(1, most)
        if most:
            size["shortest_edge"] = min(size["shortest_edge"], max(1, most // 4))
        return size
