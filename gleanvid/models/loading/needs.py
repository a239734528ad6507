"""What a checkpoint needs of a machine, estimated before anything is downloaded.

What frames take on top of the weights leans to too much: keys and values by a curve above those of
SmolVLM2-256M (23 KB a token) and Qwen3-VL-2B to 32B (115 to 262 KB). Nothing here was measured on
a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass

from gleanvid.models.loading.fit import Memory
from gleanvid.models.loading.precision import AUTO, check_precision

# Bytes a parameter. Embeddings and the output layer stay in 16 bits where the rest has fewer.
_BYTES = {"bf16": 2.0, "fp16": 2.0, "fp32": 4.0, "8bit": 1.15, "4bit": 0.75}
_TOKENS_PER_FRAME = 256
_SPARE_GB = 0.5  # kernels, buffers, the device's own context


@dataclass(frozen=True)
class Fit:
    """Whether a checkpoint fits: ``ok`` is None where the free memory is not known."""

    needed_gb: float
    free_gb: float | None
    text: str
    ok: bool | None


def memory_gb(billions: float, precision: str, frames: int, device: str) -> float:
    """About the 10^9 bytes that weights and a prompt of ``frames``, uncompressed, take.

    ``billions`` of parameters; ``device``: "cuda" or "cpu", which "auto" depends on. Raises
    ``ValueError`` for a precision that is none.
    """
    check_precision(precision)
    if precision == AUTO:
        precision = "bf16" if device == "cuda" else "fp32"
    per_token = 2 * 85e3 * billions**0.4  # bytes of keys and values, as much again in passing
    per_token *= 2 if precision == "fp32" else 1
    return billions * _BYTES[precision] + frames * _TOKENS_PER_FRAME * per_token / 1e9 + _SPARE_GB


def fit(billions: float, precision: str, frames: int, memory: Memory, freed_gb: float = 0.0) -> Fit:
    """Compare with free memory; ``freed_gb`` more is there once the model before is gone."""
    needed = memory_gb(billions, precision, frames, memory.device)
    if memory.free is None:
        return Fit(needed, None, f"needs about {needed:.1f} GB", None)
    free = memory.free / 1e9 + freed_gb
    if needed <= free:
        return Fit(needed, free, "fits this machine", True)
    small = memory_gb(billions, "4bit", frames, memory.device)
    helps = memory.device == "cuda" and precision != "4bit" and small <= free
    return Fit(needed, free, "too large: try 4-bit" if helps else "too large", False)
