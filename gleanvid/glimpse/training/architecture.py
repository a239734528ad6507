"""Build the built-in model: a small Qwen3-VL of transformers' own class, with its processor.

A visual token covers 16 x 16 px of two frames: patches have 8 px, and 2 x 2 patches are merged. So
two frames of 160 x 160 px have 10 x 10 tokens. The video processor scales larger frames down, so
that they have at most 160 * 160 pixels.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import (
    GenerationConfig,
    PreTrainedTokenizerFast,
    Qwen2VLImageProcessor,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    Qwen3VLProcessor,
    Qwen3VLVideoProcessor,
)

from gleanvid.glimpse.training import tokenizer as words

PATCH, MERGE, TEMPORAL = 8, 2, 2
CELL = PATCH * MERGE  # px along one side of a token
TOKENS_PER_UNIT = 100
_PIXELS = TOKENS_PER_UNIT * CELL**2
_MAX_FRAMES = 768
_WIDTH, _VISION_WIDTH = 320, 128  # hidden sizes of language model and vision tower
_PLACES = 20  # number of position embeddings along each side of the frame
_WAVES = 8  # a position embedding is a sum of this many cosines for each axis
_CODE_STRENGTH = 1.2  # standard deviation of position embeddings, near that of embedded patches
_TEMPLATE = """\
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\n' }}
{%- if message.content is string %}{{- message.content }}
{%- else %}
{%- for part in message.content %}
{%- if part.type == 'video' %}{{- '<|vision_start|><|video_pad|><|vision_end|>' }}
{%- elif part.type == 'image' %}{{- '<|vision_start|><|image_pad|><|vision_end|>' }}
{%- elif part.type == 'text' %}{{- part.text }}
{%- endif %}
{%- endfor %}
{%- endif %}
{{- '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"""


def build_config(tokenizer: PreTrainedTokenizerFast) -> Qwen3VLConfig:
    """Return a configuration with about 7 million parameters and the tokenizer's token ids."""
    ids: Any = tokenizer.convert_tokens_to_ids
    vision = {
        "depth": 4,
        "hidden_size": _VISION_WIDTH,
        "intermediate_size": 3 * _VISION_WIDTH,
        "num_heads": _VISION_WIDTH // 32,
        "patch_size": PATCH,
        "spatial_merge_size": MERGE,
        "temporal_patch_size": TEMPORAL,
        "out_hidden_size": _WIDTH,
        "num_position_embeddings": _PLACES**2,
        "deepstack_visual_indexes": [1, 2],
    }
    text = {
        "vocab_size": len(tokenizer),
        "hidden_size": _WIDTH,
        "intermediate_size": 2 * _WIDTH,
        "num_hidden_layers": 5,
        "num_attention_heads": _WIDTH // 64,
        "num_key_value_heads": _WIDTH // 64,
        "head_dim": 64,
        "max_position_embeddings": 8192,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10000.0,
            "mrope_section": [12, 10, 10],
            "mrope_interleaved": True,
        },
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "tie_word_embeddings": True,
    }
    return Qwen3VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=ids(words.IMAGE),
        video_token_id=ids(words.VIDEO),
        vision_start_token_id=ids(words.VISION_START),
        vision_end_token_id=ids(words.VISION_END),
        tie_word_embeddings=True,
    )


def build_processor(tokenizer: PreTrainedTokenizerFast) -> Qwen3VLProcessor:
    """Return Qwen3-VL's processor with patches of 8 px and a limit on the pixels of a frame."""
    shared: dict[str, Any] = {
        "patch_size": PATCH,
        "merge_size": MERGE,
        "temporal_patch_size": TEMPORAL,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
    }
    image = Qwen2VLImageProcessor(
        size={"shortest_edge": CELL * CELL, "longest_edge": _PIXELS}, **shared
    )
    video = Qwen3VLVideoProcessor(
        size={"shortest_edge": CELL * CELL, "longest_edge": _PIXELS * _MAX_FRAMES},
        cap_pixels_per_frame=True,
        max_video_tokens=TOKENS_PER_UNIT,
        **shared,
    )
    return Qwen3VLProcessor(
        image_processor=image, tokenizer=tokenizer, video_processor=video, chat_template=_TEMPLATE
    )


def build_model(
    tokenizer: PreTrainedTokenizerFast, seed: int = 0
) -> Qwen3VLForConditionalGeneration:
    """Return a model with random weights in float32."""
    torch.manual_seed(seed)
    model = Qwen3VLForConditionalGeneration(build_config(tokenizer))
    model.model.visual.pos_embed.weight.data = _place_codes()
    model.generation_config = GenerationConfig(
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        do_sample=False,
        max_new_tokens=20,  # the longest answer has 15 tokens
    )
    return model


def _place_codes() -> Tensor:
    """Return position embeddings, smooth over the frame: [_PLACES ** 2, _VISION_WIDTH].

    transformers would initialise them with noise that is much weaker than the embedded patches.
    From that noise, a model this small never learns where an object is.
    """
    waves = torch.arange(1, _WAVES + 1) * math.pi * (torch.arange(_PLACES)[:, None] + 0.5) / _PLACES
    codes = waves.cos() @ torch.randn(2, _WAVES, _VISION_WIDTH)
    both = (codes[0][:, None] + codes[1]).reshape(_PLACES**2, _VISION_WIDTH)
    return both * (_CODE_STRENGTH / both.std())


def export(
    model: Qwen3VLForConditionalGeneration, tokenizer: PreTrainedTokenizerFast, folder: Path
) -> None:
    """Write a model directory in float16 that transformers' Auto classes can load."""
    folder.mkdir(parents=True, exist_ok=True)
    half = Qwen3VLForConditionalGeneration(model.config).half()
    half.load_state_dict(model.state_dict())
    half.generation_config = model.generation_config
    half.save_pretrained(folder)
    build_processor(tokenizer).save_pretrained(folder)
