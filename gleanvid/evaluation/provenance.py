"""The hardware and versions that figures were measured on, for result files. Nothing personal."""

from __future__ import annotations

import os
import platform
import re
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NotRequired, TypedDict

import torch

_PACKAGES = ("torch", "transformers", "numpy", "flash-attn")


class Machine(TypedDict):
    """The last three are of a CUDA device."""

    device: str
    cpu: str
    cpu_cores: int | None
    threads: int
    load_average: float | None  # of the last minute: what else the machine was doing
    system: str
    python: str
    versions: dict[str, str]
    device_memory_mib: NotRequired[int]
    multiprocessors: NotRequired[int]
    cuda: NotRequired[str | None]


def describe_machine(device: torch.device) -> Machine:
    """Device, processor, memory, load and versions. Take it before measuring."""
    facts: Machine = {
        "device": _device_name(device),
        "cpu": _cpu_name(),
        "cpu_cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load_average": _load(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": _versions(),
    }
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        facts["device_memory_mib"] = round(properties.total_memory / 2**20)
        facts["multiprocessors"] = properties.multi_processor_count
        facts["cuda"] = torch.version.cuda
    return facts


def in_words(machine: Machine) -> str:
    """The facts of :func:`describe_machine` as a line of text."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    threads = machine["threads"]
    return (
        f"{machine['device']}, {machine['cpu']}, {threads} thread{'s' * (threads != 1)}, "
        f"load average {machine['load_average']} before, {versions}"
    )


def _load() -> float | None:
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def _cpu_name() -> str:
    with suppress(OSError):  # Linux
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
        if found:
            return found[1]
    return platform.processor() or platform.machine()


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
