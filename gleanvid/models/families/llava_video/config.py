"""LLaVA-Video's configuration, in this package's format and read from an original checkpoint's.

An original checkpoint is refused if its configuration has a value that is not supported here.
"""

from __future__ import annotations

from typing import Any

from transformers import AutoConfig, LlavaOnevisionConfig, Qwen2Config

CHOICES: dict[str, tuple[Any, ...]] = {
    "spatial_pool_mode": ("average", "bilinear"),
    # a newline token after each row of a frame, after each frame, after the video, or none
    "newline_position": ("grid", "frame", "one_token", "no_token"),
    "newline_policy": ("line", "all", "none"),
    "time_instruction": (True, False),
}
SIGLIP = "siglip-so400m-patch14-384"  # checkpoints hold and use 26 of the 27 SigLIP layers
_ONLY = {  # key of an original checkpoint's configuration -> the only supported value
    "mm_vision_select_layer": -2,  # -2 of 27 layers: the output of the 26th layer is used
    "mm_projector_type": "mlp2x_gelu",
    "add_faster_video": False,
}
_TEXT = (
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "max_position_embeddings",
    "rms_norm_eps",
    "rope_theta",
    "tie_word_embeddings",
    "bos_token_id",
    "eos_token_id",
)


def lines_of(newline_position: str, grid: tuple[int, int, int]) -> int:
    """Return the number of lines of a video; every line ends with a newline token.

    A line is a row of a frame ("grid"), a frame ("frame") or the whole video ("one_token").
    """
    lines = {"grid": grid[0] * grid[1], "frame": grid[0], "one_token": 1, "no_token": 0}
    return lines[newline_position]


class LlavaVideoConfig(LlavaOnevisionConfig):
    """Configuration that also says how frames become tokens and which newlines are kept."""

    model_type = "llava_video"

    spatial_pool_mode: str = "bilinear"
    spatial_pool_stride: int = 2
    newline_position: str = "grid"
    newline_policy: str = "line"
    time_instruction: bool = True

    def __post_init__(self, **kwargs: Any) -> None:
        super().__post_init__(**kwargs)
        for name in CHOICES:
            checked_choice(name, getattr(self, name))


class LlavaQwenConfig(LlavaVideoConfig):
    """Configuration in the original format: a Qwen2 configuration with mm_... keys."""

    model_type = "llava_qwen"

    @classmethod
    def from_dict(cls, config_dict: dict[str, Any], **kwargs: Any) -> Any:
        tower = config_dict.get("mm_vision_tower") or ""
        vision = config_dict.get("vision_config")
        if vision is None and SIGLIP not in tower:
            raise ValueError(f"mm_vision_tower={tower!r} is not supported, only {SIGLIP}")
        for name, value in _ONLY.items():
            if config_dict.get(name) not in (None, value):
                raise ValueError(f"{name}={config_dict[name]!r} is not supported, only {value!r}")
        settings = {
            "text_config": Qwen2Config(**{k: config_dict[k] for k in _TEXT if k in config_dict}),
            "tie_word_embeddings": config_dict.get("tie_word_embeddings", False),
            "spatial_pool_mode": config_dict.get("mm_spatial_pool_mode") or "bilinear",
            "spatial_pool_stride": config_dict.get("mm_spatial_pool_stride") or 2,
            "newline_position": config_dict.get("mm_newline_position") or "one_token",
        }
        same = ("vision_config", "image_token_index", "video_token_index", "dtype", "torch_dtype")
        settings |= {name: config_dict[name] for name in same if name in config_dict}
        return LlavaVideoConfig.from_dict(settings, **kwargs)


def checked_choice(name: str, value: Any) -> Any:
    """Return ``value`` unchanged if ``CHOICES`` allows it for the setting ``name``.

    Raises ``ValueError`` for an unknown setting or another value.
    """
    if name not in CHOICES:
        raise ValueError(f"{name} is not one of this model's settings: {', '.join(CHOICES)}")
    if value not in CHOICES[name]:
        choices = ", ".join(map(str, CHOICES[name]))
        raise ValueError(f"{name}={value!r} must be one of {choices}")
    return value


# transformers finds configuration classes by the model type in config.json
AutoConfig.register("llava_video", LlavaVideoConfig, exist_ok=True)
AutoConfig.register("llava_qwen", LlavaQwenConfig, exist_ok=True)
