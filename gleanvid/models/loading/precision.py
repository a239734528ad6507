"""Precisions by the names of menus, and names of models that say theirs: ``OWNER/NAME@4bit``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

AUTO = "auto"  # bfloat16 on a GPU, float32 elsewhere
PRECISIONS: Mapping[str, Mapping[str, Any]] = {  # -> keywords of load_model
    AUTO: {},
    "bf16": {"dtype": "bfloat16"},
    "fp16": {"dtype": "float16"},
    "fp32": {"dtype": "float32"},
    "8bit": {"quantization": "8bit"},
    "4bit": {"quantization": "4bit"},
}


def check_precision(precision: str) -> None:
    """Raises ``ValueError`` for a precision that is none."""
    if precision not in PRECISIONS:
        raise ValueError(f"precision={precision!r} must be one of {', '.join(PRECISIONS)}")


def keyed(name: str, precision: str) -> str:
    """The name of a model at a precision; the plain one for "auto".

    >>> keyed("Qwen/Qwen3-VL-8B-Instruct", "4bit")
    'Qwen/Qwen3-VL-8B-Instruct@4bit'
    """
    check_precision(precision)
    return name if precision == AUTO else f"{name}@{precision}"


def parted(key: str) -> tuple[str, Mapping[str, Any]]:
    """The plain name, and the keywords of ``load_model`` for its precision.

    >>> parted("Qwen/Qwen3-VL-8B-Instruct@4bit")
    ('Qwen/Qwen3-VL-8B-Instruct', {'quantization': '4bit'})
    """
    name, at, precision = key.rpartition("@")
    return (name, PRECISIONS[precision]) if at and precision in PRECISIONS else (key, {})


def precision_of(key: str) -> str:
    """The precision that a name says.

    >>> precision_of("Qwen/Qwen3-VL-8B-Instruct@4bit"), precision_of("Qwen/Qwen3-VL-8B-Instruct")
    ('4bit', 'auto')
    """
    precision = key.rpartition("@")[2]
    return precision if parted(key)[0] != key else AUTO
