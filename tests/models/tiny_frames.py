"""Tiny random models with text before every frame: InternVL3, SmolVLM2, VideoLLaMA3."""

from pathlib import Path
from typing import Any

import transformers as hf

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
    config = hf.InternVLConfig(
        text_config=qwen2_text(tokenizer),
        vision_config=TOWER | {"image_size": [112, 112], "patch_size": [14, 14]},
        image_token_id=tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=16,
        tie_word_embeddings=False,
    )
    size = {"height": 112, "width": 112}
    processor = hf.InternVLProcessor(
        image_processor=hf.GotOcr2ImageProcessor(size=size),
        tokenizer=tokenizer,
        video_processor=hf.InternVLVideoProcessor(size=size),
        image_seq_length=16,
        chat_template=PLAIN,
    )
    save(hf.InternVLForConditionalGeneration(config), processor, directory)


def smolvlm(directory: Path) -> None:
    tokenizer = tiny_tokenizer(
        "<video>",
        "<global-img>",
        image_token="<image>",
        fake_image_token="<fake_token_around_image>",
        end_of_utterance_token="<end_of_utterance>",
    )
    tokenizer.eos_token = "<end_of_utterance>"
    config = hf.SmolVLMConfig(
        text_config=text_numbers(tokenizer)
        | {"model_type": "llama", "pad_token_id": tokenizer.pad_token_id},
        vision_config=TOWER | {"image_size": 64, "patch_size": 8},
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        scale_factor=2,
    )
    size = {"longest_edge": 64}
    processor = hf.SmolVLMProcessor(
        image_processor=hf.SmolVLMImageProcessor(size=size, max_image_size=size),
        tokenizer=tokenizer,
        video_processor=hf.SmolVLMVideoProcessor(size={"longest_edge": 128}, max_image_size=size),
        image_seq_len=16,
    )
    save(hf.SmolVLMForConditionalGeneration(config), processor, directory)


def video_llama3(directory: Path) -> None:
    tokenizer = tiny_tokenizer()
    ids = ids_of(tokenizer)
    config = hf.VideoLlama3Config(
        text_config=qwen2_text(tokenizer),
        vision_config=TOWER | {"patch_size": 14},
        image_token_id=ids["image_token_id"],
        video_token_id=ids["video_token_id"],
    )
    processor = hf.VideoLlama3Processor(
        image_processor=hf.VideoLlama3ImageProcessor(),
        tokenizer=tokenizer,
        video_processor=hf.VideoLlama3VideoProcessor(
            size={"shortest_edge": 28 * 28, "longest_edge": 2**16}
        ),
        chat_template=CHAT.replace("<|vision_start|><|video_pad|><|vision_end|>", "<|video_pad|>"),
    )
    save(hf.VideoLlama3ForConditionalGeneration(config), processor, directory)
