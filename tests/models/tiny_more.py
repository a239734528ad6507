"""Tiny random models of the classes that see frames as images, of VideoLLaMA3 and of Qwen3.5."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import (
    GotOcr2ImageProcessor,
    InternVLConfig,
    InternVLForConditionalGeneration,
    InternVLProcessor,
    InternVLVideoProcessor,
    Qwen2VLImageProcessor,
    Qwen3_5Config,
    Qwen3_5ForConditionalGeneration,
    Qwen3VLProcessor,
    Qwen3VLVideoProcessor,
    SmolVLMConfig,
    SmolVLMForConditionalGeneration,
    SmolVLMImageProcessor,
    SmolVLMProcessor,
    SmolVLMVideoProcessor,
    VideoLlama3Config,
    VideoLlama3ForConditionalGeneration,
    VideoLlama3ImageProcessor,
    VideoLlama3Processor,
    VideoLlama3VideoProcessor,
)

from tests.models.tiny import CHAT, ids_of, save, text_numbers, tiny_tokenizer

TOWER = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
}
PLAIN = CHAT.replace("<|vision_start|><|video_pad|><|vision_end|>", "<video>\n")


def qwen2_text(tokenizer: Any) -> dict[str, Any]:
    return text_numbers(tokenizer) | {"model_type": "qwen2"}


def internvl(directory: Path) -> None:
    tokenizer = tiny_tokenizer(
        start_image_token="<img>",
        end_image_token="</img>",
        context_image_token="<IMG_CONTEXT>",
        video_token="<video>",
    )
    config = InternVLConfig(
        text_config=qwen2_text(tokenizer),
        vision_config=TOWER | {"image_size": [112, 112], "patch_size": [14, 14]},
        image_token_id=tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=16,
        tie_word_embeddings=False,
    )
    size = {"height": 112, "width": 112}
    processor = InternVLProcessor(
        image_processor=GotOcr2ImageProcessor(size=size),
        tokenizer=tokenizer,
        video_processor=InternVLVideoProcessor(size=size),
        image_seq_length=16,
        chat_template=PLAIN,
    )
    save(InternVLForConditionalGeneration(config), processor, directory)


def smolvlm(directory: Path) -> None:
    tokenizer = tiny_tokenizer(
        "<video>",
        "<global-img>",
        image_token="<image>",
        fake_image_token="<fake_token_around_image>",
        end_of_utterance_token="<end_of_utterance>",
    )
    tokenizer.eos_token = "<end_of_utterance>"
    config = SmolVLMConfig(
        text_config=text_numbers(tokenizer)
        | {"model_type": "llama", "pad_token_id": tokenizer.pad_token_id},
        vision_config=TOWER | {"image_size": 64, "patch_size": 8},
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        scale_factor=2,
    )
    size = {"longest_edge": 64}
    processor = SmolVLMProcessor(
        image_processor=SmolVLMImageProcessor(size=size, max_image_size=size),
        tokenizer=tokenizer,
        video_processor=SmolVLMVideoProcessor(size={"longest_edge": 128}, max_image_size=size),
        image_seq_len=16,
    )
    save(SmolVLMForConditionalGeneration(config), processor, directory)


def video_llama3(directory: Path) -> None:
    tokenizer = tiny_tokenizer()
    ids = ids_of(tokenizer)
    config = VideoLlama3Config(
        text_config=qwen2_text(tokenizer),
        vision_config=TOWER | {"patch_size": 14},
        image_token_id=ids["image_token_id"],
        video_token_id=ids["video_token_id"],
    )
    processor = VideoLlama3Processor(
        image_processor=VideoLlama3ImageProcessor(),
        tokenizer=tokenizer,
        video_processor=VideoLlama3VideoProcessor(
            size={"shortest_edge": 28 * 28, "longest_edge": 2**16}
        ),
        chat_template=CHAT.replace("<|vision_start|><|video_pad|><|vision_end|>", "<|video_pad|>"),
    )
    save(VideoLlama3ForConditionalGeneration(config), processor, directory)


def qwen35(directory: Path) -> None:
    tokenizer = tiny_tokenizer()
    linear = {
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 8,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "layer_types": ["linear_attention", "full_attention"] * 2 + ["linear_attention"],
    }
    rope = {
        "rope_type": "default",
        "rope_theta": 10000.0,
        "partial_rotary_factor": 0.5,
        "mrope_section": [2, 1, 1],
        "mrope_interleaved": True,
    }
    config = Qwen3_5Config(
        text_config=text_numbers(tokenizer) | linear | {"head_dim": 16, "rope_parameters": rope},
        vision_config={
            "depth": 3,
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_heads": 4,
            "patch_size": 16,
            "out_hidden_size": 32,
            "num_position_embeddings": 64,
        },
        **ids_of(tokenizer),
    )
    processor = Qwen3VLProcessor(
        image_processor=Qwen2VLImageProcessor(patch_size=16),
        tokenizer=tokenizer,
        video_processor=Qwen3VLVideoProcessor(size={"shortest_edge": 2048, "longest_edge": 2**18}),
        chat_template=CHAT,
    )
    save(Qwen3_5ForConditionalGeneration(config), processor, directory)
