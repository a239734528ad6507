"""Parse and format model names with a precision, such as ``OWNER/NAME@4bit``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

AUTO = "auto"  # bfloat16 on a GPU, float32 elsewhere
PRECISIONS: Mapping[str, Mapping[str, Any]] = {  # precision -> arguments of load_model
    AUTO: {},
    "bf16": {"dtype": "bfloat16"},
    "fp16": {"dtype": "float16"},
    "fp32": {"dtype": "float32"},
    "8bit": {"quantization": "8bit"},
    "4bit": {"quantization": "4bit"},
}


def check_precision(precision: str) -> None:
    if precision not in PRECISIONS:
        raise ValueError(f"precision={precision!r} must be one of {', '.join(PRECISIONS)}")


def with_precision(name: str, precision: str) -> str:
    """Append a precision to the name of a model; "auto" leaves the name as it is.

    >>> with_precision("Qwen/Qwen3-VL-8B-Instruct", "4bit")
    'Qwen/Qwen3-VL-8B-Instruct@4bit'
    """
    check_precision(precision)
    return name if precision == AUTO else f"{name}@{precision}"


def split_precision(name: str) -> tuple[str, str]:
    """Split a name into the plain name and the precision, which is "auto" if it has none.

    >>> split_precision("Qwen/Qwen3-VL-8B-Instruct@4bit")
    ('Qwen/Qwen3-VL-8B-Instruct', '4bit')
    """
    plain, at, precision = name.rpartition("@")
    return (plain, precision) if at and precision in PRECISIONS else (name, AUTO)
