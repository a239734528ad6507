"""Free memory of this machine, and an estimate of the memory that a checkpoint needs.

The estimate of the memory per token is high on purpose. It lies above the keys and values that a
token takes in SmolVLM2-256M (23 KB) and in Qwen3-VL-2B to 32B (115 to 262 KB), to leave room for
temporary tensors. No estimate was checked on a GPU.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch

from gleanvid.models.loading.precision import AUTO, check_precision

_CGROUP = Path("/sys/fs/cgroup")
# Bytes per parameter. In quantised models, embeddings and output layer stay in 16 bits.
_BYTES = {"bf16": 2.0, "fp16": 2.0, "fp32": 4.0, "8bit": 1.15, "4bit": 0.75}
_TOKENS_PER_FRAME = 256
_SPARE_GB = 0.5  # memory for kernels, buffers and the context of the device, in 10^9 bytes


@dataclass(frozen=True)
class Memory:
    """Free and total memory in bytes of the device that models are loaded on; None: unknown."""

    device: str  # "cuda" or "cpu"
    free: int | None
    total: int | None

    @property
    def gpu_gb(self) -> float:
        """Total memory of the GPU in GB (10^9 bytes); 0 without a GPU."""
        return (self.total or 0) / 1e9 if self.device == "cuda" else 0.0


def memory(device: str | None = None) -> Memory:
    """Return free and total memory of a device; None: the device that ``load_model`` uses.

    GPU memory that torch has reserved and does not use counts as free.
    """
    kind = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if kind.type == "cuda" and torch.cuda.is_available():
        unused, whole = torch.cuda.mem_get_info(kind)
        held = torch.cuda.memory_reserved(kind) - torch.cuda.memory_allocated(kind)
        return Memory("cuda", unused + held, whole)
    free, total = _main_memory()
    limit, used = _number(_CGROUP / "memory.max"), _number(_CGROUP / "memory.current")
    # A container may have a lower limit than the memory of the machine.
    if limit is not None and used is not None:
        cached = _cached_files()
        free = limit - used + cached if free is None else min(free, limit - used + cached)
        total = limit if total is None else min(total, limit)
    return Memory("cpu", free, total)


def _main_memory() -> tuple[int | None, int | None]:
    with suppress(ImportError):
        import psutil

        found = psutil.virtual_memory()
        return found.available, found.total
    return None, None


def _cached_files() -> int:
    """Return the bytes of the container's cached files, which the system frees on demand."""
    with suppress(OSError, ValueError):
        lines = (_CGROUP / "memory.stat").read_text().splitlines()
        facts = dict(line.split() for line in lines)
        return int(facts.get("inactive_file", 0))
    return 0


def _number(path: Path) -> int | None:
    with suppress(OSError, ValueError):  # the file may hold "max": no limit
        return int(path.read_text())
    return None


def answer_s(billions: float, frames: int) -> float:
    """Estimate the seconds that an answer with all tokens takes on this CPU, to one digit.

    The operations that a prompt takes are divided by this machine's speed at the product of two
    matrices, which is measured; a model is taken to reach half of it. It is a rough estimate.
    """
    seconds = 4e9 * billions * frames * _TOKENS_PER_FRAME / _flops()
    return float(f"{max(1.0, seconds):.1g}")


@cache
def _flops() -> float:
    """Measure the floating-point operations per second of a product of two float32 matrices.

    The fastest of several counts: other programs slow the rest.
    """
    square, seconds = torch.ones(512, 512), []
    for _ in range(16):
        began = time.perf_counter()
        square @ square
        seconds.append(time.perf_counter() - began)
    return 2 * 512**3 / min(seconds)


@dataclass(frozen=True)
class Fit:
    """Whether a checkpoint fits into memory; ``ok`` is None if the free memory is unknown."""

    needed_gb: float
    free_gb: float | None
    text: str
    ok: bool | None


def memory_gb(billions: float, precision: str, frames: int, device: str) -> float:
    """Estimate the memory that the weights and an uncompressed prompt take, in 10^9 bytes.

    Args:
        billions: number of parameters in 10^9.
        precision: a key of ``PRECISIONS``; "auto" depends on ``device``.
        frames: number of frames in the prompt.
        device: "cuda" or "cpu".

    Raises:
        ValueError: an unknown precision.
    """
    check_precision(precision)
    if precision == AUTO:
        precision = "bf16" if device == "cuda" else "fp32"
    # A token's keys and values take about 85e3 * billions**0.4 bytes in 16 bits, and its temporary
    # tensors as many.
    per_token = 2 * 85e3 * billions**0.4
    per_token *= 2 if precision == "fp32" else 1
    return billions * _BYTES[precision] + frames * _TOKENS_PER_FRAME * per_token / 1e9 + _SPARE_GB


def check_fit(billions: float, precision: str, frames: int, memory: Memory) -> Fit:
    """Say whether a checkpoint with ``frames`` frames in the prompt fits into the free memory.

    ``billions``, ``precision``: see :func:`memory_gb`.
    """
    needed = memory_gb(billions, precision, frames, memory.device)
    if memory.free is None:
        return Fit(needed, None, f"needs about {needed:.1f} GB", None)
    free = memory.free / 1e9
    if needed <= free:
        return Fit(needed, free, "fits this machine", True)
    small = memory_gb(billions, "4bit", frames, memory.device)
    helps = memory.device == "cuda" and precision != "4bit" and small <= free
    return Fit(needed, free, "too large: try 4-bit" if helps else "too large", False)
