from pathlib import Path
from typing import Any

import transformers as hf

from tests.models.tiny import CHAT, ROPE, TOWER, save, text_numbers, tiny_tokenizer

NAMES = {
    "image_token_id": "<|image|>",
    "video_token_id": "<|video|>",
    "image_start_token_id": "<|begin_of_image|>",
    "image_end_token_id": "<|end_of_image|>",
    "video_start_token_id": "<|begin_of_video|>",
    "video_end_token_id": "<|end_of_video|>",
}
VIDEO = "<|begin_of_video|><|video|><|end_of_video|>"
EXPERTS = {
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
    "head_dim": 16,
    "rope_parameters": ROPE | {"partial_rotary_factor": 0.5},
}


def glm4v(directory: Path) -> None:
    parts = hf.Glm4vProcessor, hf.Glm4vImageProcessor, hf.Glm4vVideoProcessor
    _glm(hf.Glm4vForConditionalGeneration, hf.Glm4vConfig, parts, {}, directory)


def glm46v(directory: Path) -> None:
    parts = hf.Glm46VProcessor, hf.Glm46VImageProcessor, hf.Glm46VVideoProcessor
    _glm(hf.Glm46VForConditionalGeneration, hf.Glm46VConfig, parts, {}, directory)


def glm4v_moe(directory: Path) -> None:
    parts = hf.Glm4vProcessor, hf.Glm4vImageProcessor, hf.Glm4vVideoProcessor
    _glm(hf.Glm4vMoeForConditionalGeneration, hf.Glm4vMoeConfig, parts, EXPERTS, directory)


def _glm(model: Any, config: Any, parts: Any, more: dict[str, Any], directory: Path) -> None:
    tokenizer = tiny_tokenizer(*NAMES.values())
    made = config(
        text_config=text_numbers(tokenizer)
        | {"rope_parameters": ROPE, "pad_token_id": tokenizer.pad_token_id}
        | more,
        vision_config=TOWER | {"image_size": 112},
        **{name: tokenizer.convert_tokens_to_ids(token) for name, token in NAMES.items()},
    )
    processor, images, videos = parts
    size = {"shortest_edge": 28 * 28, "longest_edge": 2**18}
    save(
        model(made),
        processor(
            image_processor=images(size=size),
            tokenizer=tokenizer,
            video_processor=videos(size=size),
            chat_template=CHAT.replace("<|vision_start|><|video_pad|><|vision_end|>", VIDEO),
        ),
        directory,
    )
