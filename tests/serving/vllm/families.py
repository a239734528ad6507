"""Random models of the families served by vLLM, in sizes for which vLLM has CPU kernels."""

from pathlib import Path
from typing import Any

import transformers as hf
from safetensors.torch import load_file, save_file

from tests.models import tiny, tiny_qwen
from tests.models.tiny import ids_of, save, text_numbers, tiny_tokenizer
from tests.models.tiny_qwen import parts2, processor3

# With these sizes, attention heads have width 32: vLLM has CPU kernels for it.
TEXT = {"hidden_size": 128, "intermediate_size": 128, "num_key_value_heads": 2}
TOWER = tiny.TOWER | {"hidden_size": 128, "intermediate_size": 128, "out_hidden_size": 128}
ROPE = tiny.ROPE | {"mrope_section": [4, 6, 6]}
LINEAR = tiny_qwen.LINEAR | {"linear_key_head_dim": 128, "linear_value_head_dim": 128}
EXPERTS = tiny_qwen.EXPERTS | {"head_dim": 32, "moe_intermediate_size": 96, "norm_topk_prob": True}


def frames3(tokenizer: Any) -> Any:
    """Return a Qwen3-VL processor that normalises images like videos, because vLLM does so."""
    processor = processor3(tokenizer)
    images = processor.image_processor
    images.image_mean = images.image_std = processor.video_processor.image_mean
    return processor


def qwen25_vl(directory: Path) -> None:
    tokenizer = tiny_tokenizer()
    windows = {"patch_size": 14, "window_size": 56, "fullatt_block_indexes": [2]}
    # With few tokens per second, a video's positions in time stay below those in space.
    # Otherwise, transformers 5 and vLLM give the text after the video different positions.
    windows["tokens_per_second"] = 1
    config = hf.Qwen2_5_VLConfig(
        text_config=text_numbers(tokenizer) | TEXT | {"rope_parameters": ROPE},
        vision_config=TOWER | windows,
        **ids_of(tokenizer),
    )
    processor = hf.Qwen2_5_VLProcessor(**parts2(tokenizer, 28 * 28))
    save(hf.Qwen2_5_VLForConditionalGeneration(config), processor, directory)


def qwen3_vl_moe(directory: Path) -> None:
    tokenizer = tiny_tokenizer()
    rope = {"rope_parameters": ROPE | {"mrope_interleaved": True}}
    tower = {"patch_size": 16, "num_position_embeddings": 100, "deepstack_visual_indexes": [0, 1]}
    config = hf.Qwen3VLMoeConfig(
        text_config=text_numbers(tokenizer) | TEXT | EXPERTS | rope,
        vision_config=TOWER | tower,
        **ids_of(tokenizer),
    )
    save(hf.Qwen3VLMoeForConditionalGeneration(config), frames3(tokenizer), directory)


def as_published(directory: Path) -> None:
    """Transpose the expert weights: vLLM expects them as in published checkpoints."""
    file = directory / "model.safetensors"
    weights = load_file(file)
    for name in weights:
        if ".experts." in name:
            weights[name] = weights[name].transpose(1, 2).contiguous()
    save_file(weights, file, {"format": "pt"})


def qwen35(directory: Path) -> None:
    tokenizer = tiny_tokenizer()
    rope = {"rope_parameters": ROPE | {"mrope_interleaved": True, "partial_rotary_factor": 1.0}}
    config = hf.Qwen3_5Config(
        text_config=text_numbers(tokenizer) | TEXT | {"head_dim": 32} | LINEAR | rope,
        vision_config=TOWER | {"patch_size": 16, "num_position_embeddings": 100},
        **ids_of(tokenizer),
    )
    save(hf.Qwen3_5ForConditionalGeneration(config), frames3(tokenizer), directory)


# The model with experts must be first: vLLM sets up experts only for a process's first engine.
FAMILIES = {"qwen3_vl_moe": qwen3_vl_moe, "qwen2_5_vl": qwen25_vl, "qwen3_5": qwen35}
