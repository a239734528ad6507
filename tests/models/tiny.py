"""Shared code of all tiny models: tokenizer, chat template, sizes, writing a model folder.

Weights are drawn again with a standard deviation of 0.08. With the default of 0.02, all logits are
nearly equal, and the effect of a wrong position would be as small as rounding errors.
"""

from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from gleanvid.types import Video

SPECIALS = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
]
CHAT = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' }}"
    "{% for c in m['content'] %}{% if c['type'] == 'video' %}"
    "{{ '<|vision_start|><|video_pad|><|vision_end|>' }}"
    "{% elif c['type'] == 'image' %}{{ '<|vision_start|><|image_pad|><|vision_end|>' }}"
    "{% else %}{{ c['text'] }}{% endif %}{% endfor %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
TOWER = {
    "depth": 3,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_heads": 4,
    "out_hidden_size": 32,
}
ROPE = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1]}


def tiny_tokenizer(*more: str, **named: str) -> PreTrainedTokenizerFast:
    """Return a tiny tokenizer with the special tokens ``more``.

    ``named`` adds special tokens that are also attributes: ``image_token="<image>"``, for example.
    """
    specials = [*SPECIALS, *more, *named.values()]
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(["what moves in the video and which colour is it?"] * 3, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        padding_side="left",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=specials[1:],
        **named,
    )


def text_numbers(tokenizer: PreTrainedTokenizerFast) -> dict:
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 5,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
    }


def ids_of(tokenizer: PreTrainedTokenizerFast) -> dict[str, int]:
    names = {
        "image_token_id": "<|image_pad|>",
        "video_token_id": "<|video_pad|>",
        "vision_start_token_id": "<|vision_start|>",
        "vision_end_token_id": "<|vision_end|>",
    }
    return {key: tokenizer.convert_tokens_to_ids(token) for key, token in names.items()}


def save(model, processor, directory: Path) -> None:
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name and name.endswith("weight"):
                continue
            weight.normal_(0.0, 0.08, generator=generator)
    tokenizer = processor.tokenizer
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(directory)
    processor.save_pretrained(directory)


def noise_video(frames: int = 5, height: int = 70, width: int = 100, seed: int = 0) -> Video:
    random = np.random.default_rng(seed)
    shape = (frames, height, width, 3)
    return Video.from_frames(random.integers(0, 256, shape, dtype=np.uint8), fps=2.0)
