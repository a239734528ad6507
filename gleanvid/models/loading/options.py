"""Turn the options of ``load_model`` into arguments of torch and transformers."""

from __future__ import annotations

from importlib.util import find_spec

import torch
from transformers import BitsAndBytesConfig
from transformers.utils import is_flash_attn_2_available

from gleanvid.devices import GPUS, is_there
from gleanvid.types import ModelError

QUANTIZATIONS = ("8bit", "4bit")
DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def device_of(given: str | torch.device | None) -> torch.device:
    """Return the device to load a model on; None gives CUDA if available, else the CPU.

    Raises ``ModelError`` if the device is unknown or not on this machine.
    """
    if given is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(given)
    except RuntimeError as error:
        raise ModelError(
            f"device={given!r} is not a device: use 'cpu', 'cuda', 'mps' or 'xpu'."
        ) from error
    if not is_there(device):
        name = device.type.upper()
        raise ModelError(f"No {name} device is available here: use device='cpu'.")
    return device


def dtype_of(given: str | torch.dtype | None, device: torch.device) -> torch.dtype:
    """Return the dtype of the weights; None gives bfloat16 on a GPU, else float32.

    Raises ``ModelError`` if ``given`` is not in ``DTYPES``.
    """
    if given is None:
        return torch.bfloat16 if device.type in GPUS else torch.float32
    found = given if isinstance(given, torch.dtype) else getattr(torch, given, None)
    if found not in DTYPES:
        names = ", ".join(str(dtype).removeprefix("torch.") for dtype in DTYPES)
        raise ModelError(f"dtype={given!r} is not one of {names}.")
    return found


def attention_of(given: str | None, device: torch.device, dtype: torch.dtype) -> str:
    """Return the attention implementation; None: FlashAttention-2 if it can be used, else SDPA.

    Raises ``ModelError`` for FlashAttention on a device or in a dtype that it does not support.
    """
    fits = device.type == "cuda" and dtype in (torch.bfloat16, torch.float16)
    if given is None:
        return "flash_attention_2" if fits and is_flash_attn_2_available() else "sdpa"
    if "flash" in given and not fits:
        raise ModelError(
            f"attn_implementation={given!r} needs a CUDA device and dtype bfloat16 or float16, "
            f"not {device.type} with {dtype}: use 'sdpa'."
        )
    return given


def quantization_config(kind: str, dtype: torch.dtype) -> BitsAndBytesConfig:
    """Return the configuration of LLM.int8() ("8bit") or NF4 with double quantisation ("4bit").

    ``dtype``: that of the computation. NF4 comes from QLoRA. Raises ``ModelError`` if ``kind`` is
    unknown, or if bitsandbytes or accelerate is not installed.
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
