"""Tiny random models of Gemma 4: with inputs by layer and shared keys, and with frames that see
themselves whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import (
    Gemma4AudioFeatureExtractor,
    Gemma4Config,
    Gemma4ForConditionalGeneration,
    Gemma4ImageProcessor,
    Gemma4Processor,
)
from transformers.models.gemma4.video_processing_gemma4 import Gemma4VideoProcessor

from tests.models.tiny import CHAT, save, text_numbers, tiny_tokenizer

MARKS = {
    "image_token": "<|image|>",
    "boi_token": "<|image>",
    "eoi_token": "<image|>",
    "audio_token": "<|audio|>",
    "boa_token": "<|audio>",
    "eoa_token": "<audio|>",
}
PATCHES = {"patch_size": 6, "pooling_kernel_size": 2}
TOWER = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "head_dim": 8,
    "position_embedding_size": 400,
}
SMALL = {"hidden_size_per_layer_input": 8, "num_kv_shared_layers": 2}
LARGE = {
    "hidden_size_per_layer_input": 0,
    "use_bidirectional_attention": "vision",
    "attention_k_eq_v": True,
    "num_global_key_value_heads": 1,
}


def gemma4(directory: Path) -> None:
    _gemma4(SMALL, directory)


def gemma4_large(directory: Path) -> None:
    _gemma4(LARGE, directory)


def _gemma4(more: dict[str, Any], directory: Path) -> None:
    tokenizer = tiny_tokenizer("<|video|>", **MARKS)
    kinds = ["sliding_attention", "full_attention", "sliding_attention"]
    config = Gemma4Config(
        text_config=text_numbers(tokenizer)
        | {
            "head_dim": 8,
            "global_head_dim": 16,
            "sliding_window": 64,
            "layer_types": [*kinds, "sliding_attention", "full_attention"],
            "vocab_size_per_layer_input": len(tokenizer),
            "pad_token_id": tokenizer.pad_token_id,
        }
        | more,
        vision_config=TOWER | PATCHES,
        **{
            f"{name}_id": tokenizer.convert_tokens_to_ids(token)
            for name, token in (MARKS | {"video_token": "<|video|>"}).items()
        },
    )
    processor = Gemma4Processor(
        feature_extractor=Gemma4AudioFeatureExtractor(),
        image_processor=Gemma4ImageProcessor(max_soft_tokens=70, **PATCHES),
        tokenizer=tokenizer,
        video_processor=Gemma4VideoProcessor(max_soft_tokens=70, **PATCHES),
        chat_template=CHAT.replace("<|vision_start|><|video_pad|><|vision_end|>", "<|video|>"),
    )
    placeholders = ["<|image|>", "<|video|>", "<|audio|>"]  # which a random model would write
    model = Gemma4ForConditionalGeneration(config)
    for layer in model.model.language_model.layers:  # attention has no scale of its own
        torch.nn.init.constant_(layer.self_attn.q_norm.weight, 0.25)
    model.generation_config.suppress_tokens = tokenizer.convert_tokens_to_ids(placeholders)
    save(model, processor, directory)
