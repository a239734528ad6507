"""Qwen3.5, 3.6 and 3.8: Qwen3-VL's vision side on a language model of mostly recurrent layers.

Qwen team, "Qwen3.5", 2026; its successors have the same classes. Most layers are gated delta nets,
which keep one state of everything read so far instead of keys and values. A token removed inside
the model would already be part of the states of earlier layers. These layers also have no attention
by which to choose tokens. So only compressors before the language model work; others are refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from gleanvid.models.families.qwen_vl import QwenVL
from gleanvid.models.hooks import Layout


class Qwen35(QwenVL):
    model_types: ClassVar[tuple[str, ...]] = ("qwen3_5", "qwen3_5_moe")

    @classmethod
    def layout_of(cls, hf_model: Any) -> Layout:
        reason = "layers of this language model keep a recurrent state"
        return replace(super().layout_of(hf_model), recurrent=True, ahead_only=reason)
