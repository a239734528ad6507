"""Tiny random models of Gemma 4.

One model has per-layer inputs and shared keys, one attends in both directions within a frame, and
one has no vision tower."""

from pathlib import Path
from typing import Any

import torch
import transformers as hf

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
# Low rotary frequencies: at positions in the hundreds, high ones give angles too large for float32.
ROPE = {
    "sliding_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 10_000.0},
    "full_attention": {
        "rope_type": "proportional",
        "partial_rotary_factor": 0.5,
        "rope_theta": 1_000_000.0,
    },
}
TOWER = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "head_dim": 8,
    "position_embedding_size": 400,
}
SMALL = {
    "vocab_size_per_layer_input": 512,
    "hidden_size_per_layer_input": 8,
    "num_kv_shared_layers": 2,
}
LARGE = {
    "hidden_size_per_layer_input": 0,
    "use_bidirectional_attention": "vision",
    "attention_k_eq_v": True,
    "num_global_key_value_heads": 1,
}


BLIND = {"mm_embed_dim": 32, "mm_posemb_size": 80, "output_proj_dims": 32}
CLASSES = (
    hf.Gemma4ForConditionalGeneration,
    hf.Gemma4Config,
    hf.Gemma4Processor,
    hf.Gemma4AudioFeatureExtractor,
    hf.Gemma4ImageProcessor,
    hf.Gemma4VideoProcessor,
)
UNIFIED = (
    hf.Gemma4UnifiedForConditionalGeneration,
    hf.Gemma4UnifiedConfig,
    hf.Gemma4UnifiedProcessor,
    hf.Gemma4UnifiedAudioFeatureExtractor,
    hf.Gemma4UnifiedImageProcessor,
    hf.Gemma4UnifiedVideoProcessor,
)


def gemma4(directory: Path) -> None:
    _gemma4(CLASSES, TOWER, SMALL, directory)


def gemma4_large(directory: Path) -> None:
    _gemma4(CLASSES, TOWER, LARGE, directory)


def gemma4_unified(directory: Path) -> None:
    """A tiny random Gemma 4 without a vision tower."""
    more = {name: LARGE[name] for name in LARGE if name != "hidden_size_per_layer_input"}
    _gemma4(UNIFIED, BLIND, more, directory)


def _gemma4(classes: Any, tower: dict[str, Any], more: dict[str, Any], directory: Path) -> None:
    build, configure, processor_class, ears, images, videos = classes
    tokenizer = tiny_tokenizer("<|video|>", **MARKS)
    kinds = ["sliding_attention", "full_attention", "sliding_attention"]
    config = configure(
        text_config=text_numbers(tokenizer)
        | {
            "head_dim": 8,
            "global_head_dim": 16,
            "sliding_window": 64,
            "layer_types": [*kinds, "sliding_attention", "full_attention"],
            "rope_parameters": ROPE,
            "pad_token_id": tokenizer.pad_token_id,
        }
        | more,
        vision_config=tower | PATCHES,
        **{
            f"{name}_id": tokenizer.convert_tokens_to_ids(token)
            for name, token in (MARKS | {"video_token": "<|video|>"}).items()
        },
    )
    processor = processor_class(
        feature_extractor=ears(),
        image_processor=images(max_soft_tokens=70, **PATCHES),
        tokenizer=tokenizer,
        video_processor=videos(max_soft_tokens=70, **PATCHES),
        chat_template=CHAT.replace("<|vision_start|><|video_pad|><|vision_end|>", "<|video|>"),
    )
    # a random model would generate placeholders, so generate() suppresses them
    placeholders = ["<|image|>", "<|video|>", "<|audio|>"]
    model = build(config)
    for layer in model.model.language_model.layers:  # Gemma 4 does not scale attention logits
        torch.nn.init.constant_(layer.self_attn.q_norm.weight, 0.25)
    model.generation_config.suppress_tokens = tokenizer.convert_tokens_to_ids(placeholders)
    save(model, processor, directory)
