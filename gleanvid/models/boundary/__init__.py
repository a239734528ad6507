"""All hooks into language models; no other package installs one."""

from gleanvid.models.boundary.decoding import cache_argument
from gleanvid.models.boundary.hooks import (
    check_uncompressed,
    compressing,
    installed,
    last_logits_only,
    prompt_hook,
)
from gleanvid.models.boundary.layout import Layout
from gleanvid.models.boundary.prefill import Prefill
from gleanvid.models.boundary.streams import (
    recomputed_layers,
    visual_leaves,
    weights_without_gradient,
)
from gleanvid.models.boundary.vision import capture_vision, prompt_positions, remembered_vision

__all__ = [
    "Layout",
    "Prefill",
    "cache_argument",
    "capture_vision",
    "check_uncompressed",
    "compressing",
    "installed",
    "last_logits_only",
    "prompt_hook",
    "prompt_positions",
    "recomputed_layers",
    "remembered_vision",
    "visual_leaves",
    "weights_without_gradient",
]
