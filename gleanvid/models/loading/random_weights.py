"""Models with the configuration of a published checkpoint and random weights.

Latency and memory are those of the checkpoint, and nothing is downloaded. Every word, digit and
punctuation mark is one token, as in Qwen's tokenizers for common text. Special tokens have the ids
of the checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import (
    AutoConfig,
    AutoModelForImageTextToText,
    LlavaOnevisionImageProcessor,
    LlavaOnevisionProcessor,
    LlavaOnevisionVideoProcessor,
    PreTrainedTokenizerFast,
    Qwen2VLImageProcessor,
    Qwen3VLProcessor,
)
from transformers.models.qwen3_vl.video_processing_qwen3_vl import Qwen3VLVideoProcessor

from gleanvid.models.base import ModelAdapter
from gleanvid.models.families import family_of
from gleanvid.models.families.llava_video.processor import LlavaVideoProcessor
from gleanvid.models.generation.sampling import seeded
from gleanvid.models.loading.options import attention_of, device_of, dtype_of
from gleanvid.models.measure import explaining_out_of_memory
from gleanvid.types import ModelError

_CONFIGS = Path(__file__).parents[1] / "configs"
_WORDS = r" ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]|\s"
_CHAT = (
    "SYSTEM{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' }}"
    "{% for c in m['content'] %}{% if c['type'] == 'video' %}VIDEO"
    "{% else %}{{ c['text'] }}{% endif %}{% endfor %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def shipped_configs() -> list[str]:
    """Names of the configurations that :func:`random_model` can build."""
    return sorted(path.stem for path in _CONFIGS.glob("*.json"))


def random_model(
    name: str,
    device: str | torch.device | None = None,
    dtype: str | torch.dtype | None = None,
    *,
    attn_implementation: str | None = None,
    changes: Mapping[str, Any] | None = None,
) -> ModelAdapter:
    """Build a model with random weights (seed 0) directly on its device, in its dtype.

    It has no end-of-sequence token, so every answer has the requested length.

    Args:
        name: one of :func:`shipped_configs`.
        device: see ``load_model``.
        dtype: see ``load_model``.
        attn_implementation: see ``load_model``.
        changes: values that override those of the configuration; may be nested.

    Raises:
        ModelError: an unknown name, or memory runs out.
    """
    path = _CONFIGS / f"{name}.json"
    if name not in shipped_configs():
        raise ModelError(f"config={name!r} must be one of {', '.join(shipped_configs())}")
    facts = json.loads(path.read_text(encoding="utf-8"))
    settings = merged(facts["config"], changes or {})
    config = AutoConfig.for_model(settings.pop("model_type"), **settings)
    family, target = family_of(config, name), device_of(device)
    kind = dtype_of(dtype, target)
    options = {
        "dtype": kind,
        "attn_implementation": attention_of(attn_implementation, target, kind),
    }
    with (
        explaining_out_of_memory(f"{name} does not fit on {target}: choose a smaller one."),
        seeded(0, target),
        torch.device(target),
    ):
        hf_model = AutoModelForImageTextToText.from_config(config, **options)
    hf_model.generation_config.eos_token_id = None
    hf_model.generation_config.pad_token_id = facts["special_tokens"]["<|endoftext|>"]
    processor = _PROCESSORS[config.model_type](facts, config)
    return family(f"{name} (random weights)", hf_model.eval(), processor)


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` updated with ``changes``; nested mappings are merged key by key."""
    found = dict(base)
    for key, value in changes.items():
        inside = isinstance(value, Mapping) and isinstance(found.get(key), Mapping)
        found[key] = merged(found[key], value) if inside else value
    return found


def word_tokenizer(special: Mapping[str, int]) -> PreTrainedTokenizerFast:
    """Make a tokenizer for special tokens of given ids; any other word or mark gets id 0."""
    core = Tokenizer(models.WordLevel({"<word>": 0} | dict(special), unk_token="<word>"))
    core.pre_tokenizer = pre_tokenizers.Split(Regex(_WORDS), "isolated")
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        padding_side="left",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=list(special),
    )


def _chat(facts: Mapping[str, Any]) -> str:
    return _CHAT.replace("SYSTEM", facts["system"]).replace("VIDEO", facts["video_in_chat"])


def _qwen3_vl(facts: Mapping[str, Any], config: Any) -> Any:
    patch = config.vision_config.patch_size
    return Qwen3VLProcessor(
        image_processor=Qwen2VLImageProcessor(patch_size=patch),
        tokenizer=word_tokenizer(facts["special_tokens"]),
        video_processor=Qwen3VLVideoProcessor(patch_size=patch, size=facts["video_size"]),
        chat_template=_chat(facts),
    )


def _llava(kind: type[LlavaOnevisionProcessor]) -> Callable[[Mapping[str, Any], Any], Any]:
    def build(facts: Mapping[str, Any], config: Any) -> Any:
        vision = config.vision_config
        side = {"height": vision.image_size, "width": vision.image_size}
        settings: dict[str, Any] = {"size": side, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
        return kind(
            image_processor=LlavaOnevisionImageProcessor(**settings),
            tokenizer=word_tokenizer(facts["special_tokens"]),
            video_processor=LlavaOnevisionVideoProcessor(**settings),
            num_image_tokens=(vision.image_size // vision.patch_size) ** 2,
            vision_feature_select_strategy="full",
            chat_template=_chat(facts),
        )

    return build


_PROCESSORS: dict[str, Callable[[Mapping[str, Any], Any], Any]] = {
    "qwen3_vl": _qwen3_vl,
    "llava_onevision": _llava(LlavaOnevisionProcessor),
    "llava_video": _llava(LlavaVideoProcessor),
}
