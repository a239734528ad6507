"""Tiny random LLaVA models: 7 x 7 patches a frame, pooled to 4 x 4 or 3 x 3 tokens."""

from pathlib import Path
from typing import Any

import transformers as hf

from gleanvid.models.families.llava_video.config import LlavaVideoConfig
from gleanvid.models.families.llava_video.model import LlavaVideoForConditionalGeneration
from gleanvid.models.families.llava_video.processor import LlavaVideoProcessor
from tests.models.tiny import save, text_numbers, tiny_tokenizer

CHAT = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' }}"
    "{% for c in m['content'] %}{% if c['type'] != 'text' %}{{ '<' + c['type'] + '>\n' }}"
    "{% else %}{{ c['text'] }}{% endif %}{% endfor %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SIZE = {"height": 100, "width": 100}
SQUARE = {"height": 84, "width": 84}
TOWER = {
    "model_type": "siglip_vision_model",
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "patch_size": 14,
    "image_size": 100,
    "vision_use_head": False,
}


def onevision_config(tokenizer: Any) -> dict[str, Any]:
    return {
        "text_config": text_numbers(tokenizer) | {"model_type": "qwen2"},
        "vision_config": TOWER,
        "image_token_index": tokenizer.convert_tokens_to_ids("<image>"),
        "video_token_index": tokenizer.convert_tokens_to_ids("<video>"),
        "image_grid_pinpoints": [[100, 100]],
    }


def processor_parts(tokenizer: Any) -> dict[str, Any]:
    return {
        "image_processor": hf.LlavaOnevisionImageProcessor(size=SIZE),
        "tokenizer": tokenizer,
        "video_processor": hf.LlavaOnevisionVideoProcessor(size=SIZE),
        "num_image_tokens": 49,
        "vision_feature_select_strategy": "full",
        "chat_template": CHAT,
    }


def onevision(directory: Path) -> None:
    tokenizer = tiny_tokenizer("<image>", "<video>")
    processor = hf.LlavaOnevisionProcessor(**processor_parts(tokenizer))
    config = hf.LlavaOnevisionConfig(**onevision_config(tokenizer))
    save(hf.LlavaOnevisionForConditionalGeneration(config), processor, directory)


def video_processor(tokenizer: Any, side: int) -> LlavaVideoProcessor:
    return LlavaVideoProcessor(**processor_parts(tokenizer), video_side=side)


def video_average(directory: Path) -> None:
    """A tiny LLaVA-Video: 3 x 3 tokens a frame, a newline after every row."""
    tokenizer = tiny_tokenizer("<image>", "<video>")
    config = LlavaVideoConfig(**onevision_config(tokenizer), spatial_pool_mode="average")
    save(LlavaVideoForConditionalGeneration(config), video_processor(tokenizer, 3), directory)


def video_bilinear(directory: Path) -> None:
    """A tiny LLaVA-Video: 4 x 4 tokens a frame, a newline after every row."""
    tokenizer = tiny_tokenizer("<image>", "<video>")
    config = LlavaVideoConfig(**onevision_config(tokenizer))
    save(LlavaVideoForConditionalGeneration(config), video_processor(tokenizer, 4), directory)


def next_video(directory: Path) -> None:
    """A tiny LLaVA-NeXT-Video: 3 x 3 tokens of a frame's middle square; a class token."""
    tokenizer = tiny_tokenizer("<image>", "<video>")
    shown: dict[str, Any] = {"size": {"shortest_edge": 84}, "crop_size": SQUARE}
    processor = hf.LlavaNextVideoProcessor(
        video_processor=hf.LlavaNextVideoVideoProcessor(**shown),
        image_processor=hf.LlavaNextImageProcessor(**shown),
        tokenizer=tokenizer,
        chat_template=CHAT,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )
    tower = {name: value for name, value in TOWER.items() if name != "vision_use_head"}
    tower |= {"model_type": "clip_vision_model", "image_size": 84}
    text = text_numbers(tokenizer) | {"model_type": "llama"}
    config = hf.LlavaNextVideoConfig(
        **onevision_config(tokenizer) | {"vision_config": tower, "text_config": text}
    )
    save(hf.LlavaNextVideoForConditionalGeneration(config), processor, directory)


def perception_lm(directory: Path) -> None:
    """A tiny Perception-LM: 3 x 3 tokens a frame; a timm vision tower with a class token."""
    named = {"image_token": "<image>", "video_token": "<video>"}
    tokenizer = tiny_tokenizer(**named)
    processor = hf.PerceptionLMProcessor(
        video_processor=hf.PerceptionLMVideoProcessor(size=SQUARE),
        image_processor=hf.PerceptionLMImageProcessor(tile_size=84, max_num_tiles=1),
        tokenizer=tokenizer,
        patch_size=14,
        chat_template=CHAT,
        pooling_ratio=2,
    )
    sizes = {"embed_dim": 32, "depth": 3, "num_heads": 4, "img_size": [84, 84]}
    config = hf.PerceptionLMConfig(
        text_config=text_numbers(tokenizer) | {"model_type": "llama"},
        vision_config={
            "model_type": "timm_wrapper",
            "architecture": "vit_pe_lang_large_patch14_448",
            "do_pooling": False,
            "model_args": sizes | {"ref_feat_shape": [6, 6], "global_pool": ""},
        },
        projector_pooling_ratio=2,
        **{f"{name}_id": tokenizer.convert_tokens_to_ids(token) for name, token in named.items()},
    )
    save(hf.PerceptionLMForConditionalGeneration(config), processor, directory)
