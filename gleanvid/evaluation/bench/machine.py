"""The hardware and versions that figures were measured on, for result files. Nothing personal."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

_PACKAGES = ("torch", "transformers", "numpy", "flash-attn")


def describe_machine(device: torch.device) -> dict[str, Any]:
    """Device, processor, memory, load and versions. Take it before measuring."""
    facts: dict[str, Any] = {
        "device": _device_name(device),
        "cpu": _cpu_name(),
        "cpu_cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load_average": _load(),  # of the last minute: what else the machine was doing
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


def in_words(machine: Mapping[str, Any]) -> str:
    """The facts of :func:`describe_machine` as a line of text."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return (
        f"{machine['device']}, {machine['cpu']}, {machine['threads']} threads, "
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
