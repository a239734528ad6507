"""Memory of this machine as it is now."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch

_CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Memory:
    """Bytes of the device that models are loaded on; None where the system does not tell."""

    device: str  # "cuda" or "cpu"
    free: int | None
    total: int | None

    @property
    def gpu_gb(self) -> float:
        """10^9 bytes of the GPU in all; 0 without one."""
        return (self.total or 0) / 1e9 if self.device == "cuda" else 0.0


def memory(device: str | None = None) -> Memory:
    """Free and whole memory of a device; of the one ``load_model`` takes if None.

    What torch holds back for later counts as free.
    """
    kind = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if kind.type == "cuda" and torch.cuda.is_available():
        unused, whole = torch.cuda.mem_get_info(kind)
        held = torch.cuda.memory_reserved(kind) - torch.cuda.memory_allocated(kind)
        return Memory("cuda", unused + held, whole)
    free, total = _main_memory()
    limit, used = _number(_CGROUP / "memory.max"), _number(_CGROUP / "memory.current")
    if limit is not None and used is not None:  # a container has less than its machine
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
    """Bytes of files in a container's memory, which the system takes back when it needs them."""
    with suppress(OSError, ValueError):
        lines = (_CGROUP / "memory.stat").read_text().splitlines()
        facts = dict(line.split() for line in lines)
        return int(facts.get("inactive_file", 0))
    return 0


def _number(path: Path) -> int | None:
    with suppress(OSError, ValueError):  # "max": no limit
        return int(path.read_text())
    return None
