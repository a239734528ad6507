"""Synchronised clock and peak memory on any device; out-of-memory errors become ``ModelError``."""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import torch

from gleanvid.types import ModelError

ADVICE = "Use fewer frames, a lower retention_ratio, or a smaller model."


def now(device: torch.device) -> float:
    """Wait until the device has finished its queued work; return the clock's time in seconds."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type in ("mps", "xpu"):
        getattr(torch, device.type).synchronize()
    return time.perf_counter()


def reset_peak_memory(device: torch.device) -> None:
    """Reset the peak memory: that of torch on CUDA, else that of the process (only on Linux)."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    else:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")


def peak_memory_mib(device: torch.device) -> float:
    """Return the peak memory since :func:`reset_peak_memory`.

    On CUDA, it is that of torch's allocator, else that of the whole process; 0 if unknown.
    """
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    with suppress(OSError):  # Linux
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
        if found:
            return int(found[1]) / 1024
    with suppress(ImportError):  # macOS: ru_maxrss is in bytes and cannot be reset
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return 0.0


@contextmanager
def explaining_out_of_memory(advice: str) -> Iterator[None]:
    """Turn an out-of-memory error into a ``ModelError`` with ``advice``; free unused memory."""
    message = ""
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        message = f"The device ran out of memory. {advice}"
    if message:  # freed after the except block, in which the traceback keeps tensors alive
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        raise ModelError(message)


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    text = str(error).lower()
    return "out of memory" in text or "can't allocate memory" in text
