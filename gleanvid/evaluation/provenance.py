"""Describes the hardware, software versions and model of a measurement, for result files.

The descriptions have no paths and no names of users or hosts.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import torch

from gleanvid.run import versions

_PACKAGES = ("torch", "transformers", "numpy", "flash-attn")
_SAMPLES = 64  # the fingerprint reads at most _SAMPLES + 1 values of every tensor


class Machine(TypedDict):
    """Hardware and software versions. Only a CUDA device has the last three entries."""

    device: str
    cpu: str
    cpu_cores: int | None
    threads: int
    load_average: float | None  # load average of the operating system over the last minute
    system: str
    python: str
    versions: dict[str, str]
    device_memory_mib: NotRequired[int]
    multiprocessors: NotRequired[int]
    cuda: NotRequired[str | None]


def describe_machine(device: torch.device) -> Machine:
    """Return hardware, load and versions. Call it before measuring, which raises the load."""
    facts: Machine = {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "cpu": _cpu_name(),
        "cpu_cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load_average": _load(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": versions(*_PACKAGES),
    }
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        facts["device_memory_mib"] = round(properties.total_memory / 2**20)
        facts["multiprocessors"] = properties.multi_processor_count
        facts["cuda"] = torch.version.cuda
    return facts


def caution(machine: Machine) -> tuple[str, ...]:
    """Return a warning if the machine was too busy for reliable times."""
    load, cores = machine["load_average"], machine["cpu_cores"]
    if load is None or cores is None or load <= cores:
        return ()
    return (f"The machine was busy (load {load} on {cores} cores): do not rely on these times.",)


def in_words(machine: Machine) -> str:
    """Return the result of :func:`describe_machine` as one line of text."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    threads = machine["threads"]
    return (
        f"{machine['device']}, {machine['cpu']}, {threads} thread{'s' * (threads != 1)}, "
        f"load average {machine['load_average']} before, {versions}"
    )


def _load() -> float | None:
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def _cpu_name() -> str:
    with suppress(OSError):  # Linux
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
        if found:
            return found[1]
    return platform.processor() or platform.machine()


def describe_model(model: Any) -> dict[str, Any]:
    """Return the description of a :class:`ModelAdapter` for result files.

    "model" is its name, "model_weights" a fingerprint of the weights. "processor" has the class of
    the video processor and, as "size", its limits on frame sizes.
    """
    # a RecordedModel has no weights: its description comes from its recordings
    if known := getattr(model, "described", None):
        return dict(known)
    processor = getattr(model, "processor", None)
    videos = getattr(processor, "video_processor", processor)
    size = getattr(videos, "size", None) or {}
    bounds = {name: value for name, value in dict(size).items() if value is not None}
    return {
        "model": model.name,
        "model_weights": fingerprint(model.hf_model),
        "processor": {"class": type(videos).__name__ if videos else "", "size": bounds},
    }


def public_name(name: str) -> str:
    """Return the name of a model or file. If it is a path on this machine, return its last part."""
    return Path(name).name if Path(name).exists() else _without_folders(name)


def public_command(words: Sequence[str]) -> str:
    """Return a command line in which absolute paths are cut to their last part."""
    parts = [word.partition("=") if word.startswith("-") else ("", "", word) for word in words]
    return shlex.join(f"{name}{sign}{_without_folders(value)}" for name, sign, value in parts)


def _without_folders(name: str) -> str:
    return Path(name).name if name.startswith("~") or Path(name).is_absolute() else name


def fingerprint(hf_model: torch.nn.Module) -> str:
    """Return a hash of the names, shapes, dtypes and some values of all weights: 16 hex digits.

    It depends on the dtype, because the same weights in another precision give other answers. It
    does not depend on the device.
    """
    digest = hashlib.sha256()
    tensors: dict[str, Any] = dict(hf_model.named_parameters()) | dict(hf_model.named_buffers())
    for name in sorted(tensors):
        values = tensors[name].detach().flatten()
        step = max(1, len(values) // _SAMPLES)
        some = values[::step][: _SAMPLES + 1].cpu().double()
        digest.update(f"{name} {tuple(tensors[name].shape)} {values.dtype}".encode())
        digest.update(some.numpy().tobytes())
    return digest.hexdigest()[:16]
