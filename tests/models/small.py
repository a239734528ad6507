"""The configurations that GleanVID ships for random models, reduced to two language layers."""

from typing import Any

_TEXT = {
    "num_hidden_layers": 2,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
_QWEN: dict[str, Any] = {
    "text_config": _TEXT | {"head_dim": 8, "rope_parameters": {"mrope_section": [2, 1, 1]}},
    "vision_config": {
        "depth": 3,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_heads": 4,
        "out_hidden_size": 32,
        "deepstack_visual_indexes": [0, 1, 2],
    },
}
_LLAVA: dict[str, Any] = {
    "text_config": _TEXT,
    "vision_config": {
        "num_hidden_layers": 2,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_attention_heads": 4,
    },
}
SMALL = {"qwen3-vl-8b": _QWEN, "llava-onevision-7b": _LLAVA, "llava-video-7b": _LLAVA}
