"""Weights in 8 or 4 bits by the package bitsandbytes, through transformers' own configuration."""

from __future__ import annotations

from importlib.util import find_spec

import torch
from transformers import BitsAndBytesConfig

from gleanvid.types import ModelError

QUANTIZATIONS = ("8bit", "4bit")


def quantization_config(kind: str, dtype: torch.dtype) -> BitsAndBytesConfig:
    """LLM.int8() (Dettmers et al., NeurIPS 2022) or NF4 with double quantisation (QLoRA, 2023).

    ``dtype`` is what is computed in. Raises ``ModelError`` for an unknown kind and where the
    package is not installed.
    """
    if kind not in QUANTIZATIONS:
        raise ModelError(f"quantization={kind!r} must be one of {', '.join(QUANTIZATIONS)} or None")
    if find_spec("bitsandbytes") is None or find_spec("accelerate") is None:
        raise ModelError(
            f"quantization={kind!r} needs packages that are not installed: "
            "pip install 'gleanvid[quantize]' (bitsandbytes and accelerate)"
        )
    if kind == "8bit":
        return BitsAndBytesConfig(load_in_8bit=True)
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=dtype,
    )
