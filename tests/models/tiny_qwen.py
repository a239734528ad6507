"""Tiny random Qwen models: Qwen3-VL, Qwen2.5-VL, Qwen2-VL, Qwen3.5, mixtures of experts."""

from pathlib import Path
from typing import Any

import transformers as hf

from tests.models.tiny import CHAT, ROPE, TOWER, ids_of, save, text_numbers, tiny_tokenizer

TOWER3 = TOWER | {"patch_size": 16, "num_position_embeddings": 64}
EXPERTS = {  # the expert width is not the hidden size, so transposed weights have another shape
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
}
LINEAR = {
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "layer_types": ["linear_attention", "full_attention"] * 2 + ["linear_attention"],
}


def processor3(tokenizer: Any) -> hf.Qwen3VLProcessor:
    size = {"shortest_edge": 2048, "longest_edge": 2**18}
    return hf.Qwen3VLProcessor(
        image_processor=hf.Qwen2VLImageProcessor(patch_size=16),
        tokenizer=tokenizer,
        video_processor=hf.Qwen3VLVideoProcessor(size=size),
        chat_template=CHAT,
    )


def qwen3_vl(directory: Path) -> None:
    _qwen3_vl(hf.Qwen3VLForConditionalGeneration, hf.Qwen3VLConfig, {}, directory)


def qwen3_vl_moe(directory: Path) -> None:
    _qwen3_vl(hf.Qwen3VLMoeForConditionalGeneration, hf.Qwen3VLMoeConfig, EXPERTS, directory)


def _qwen3_vl(model: Any, config: Any, more: dict[str, Any], directory: Path) -> None:
    tokenizer = tiny_tokenizer()
    rope = {"head_dim": 8, "rope_parameters": ROPE | {"mrope_interleaved": True}}
    made = config(
        text_config=text_numbers(tokenizer) | rope | more,
        vision_config=TOWER3 | {"deepstack_visual_indexes": [0, 1, 2]},
        **ids_of(tokenizer),
    )
    save(model(made), processor3(tokenizer), directory)


def qwen25_vl(directory: Path) -> None:
    tokenizer = tiny_tokenizer()
    windows = {"patch_size": 14, "window_size": 56, "fullatt_block_indexes": [2]}
    config = hf.Qwen2_5_VLConfig(
        text_config=text_numbers(tokenizer) | {"rope_parameters": ROPE},
        vision_config=TOWER | windows,
        **ids_of(tokenizer),
    )
    processor = hf.Qwen2_5_VLProcessor(**parts2(tokenizer, 28 * 28))
    save(hf.Qwen2_5_VLForConditionalGeneration(config), processor, directory)


def qwen2_vl(directory: Path) -> None:
    tokenizer = tiny_tokenizer()
    config = hf.Qwen2VLConfig(
        text_config=text_numbers(tokenizer) | {"rope_parameters": ROPE},
        vision_config={"depth": 3, "embed_dim": 32, "hidden_size": 32, "num_heads": 4},
        **ids_of(tokenizer),
    )
    processor = hf.Qwen2VLProcessor(**parts2(tokenizer, 2**14))
    save(hf.Qwen2VLForConditionalGeneration(config), processor, directory)


def parts2(tokenizer: Any, least: int) -> dict[str, Any]:
    """Return the arguments of a Qwen2-VL processor. ``least``: minimum of pixels per video."""
    return {
        "image_processor": hf.Qwen2VLImageProcessor(),
        "tokenizer": tokenizer,
        "video_processor": hf.Qwen2VLVideoProcessor(
            size={"shortest_edge": least, "longest_edge": 2**14}
        ),
        "chat_template": CHAT,
    }


def qwen35(directory: Path) -> None:
    _qwen35(hf.Qwen3_5ForConditionalGeneration, hf.Qwen3_5Config, {}, directory)


def qwen35_moe(directory: Path) -> None:
    more = EXPERTS | {"shared_expert_intermediate_size": 24}
    _qwen35(hf.Qwen3_5MoeForConditionalGeneration, hf.Qwen3_5MoeConfig, more, directory)


def _qwen35(model: Any, config: Any, more: dict[str, Any], directory: Path) -> None:
    tokenizer = tiny_tokenizer()
    rope = ROPE | {"partial_rotary_factor": 0.5, "mrope_interleaved": True}
    numbers = text_numbers(tokenizer) | LINEAR | {"head_dim": 16, "rope_parameters": rope}
    made = config(text_config=numbers | more, vision_config=TOWER3, **ids_of(tokenizer))
    save(model(made), processor3(tokenizer), directory)
