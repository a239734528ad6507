"""Estimate the download size and memory of a checkpoint before loading it."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from gleanvid.errors import ModelError
from gleanvid.models.families import family_of
from gleanvid.models.loading.fit import Fit, Memory, check_fit, memory
from gleanvid.models.loading.hub import cached
from gleanvid.models.loading.listing import Download, list_files, read_config
from gleanvid.models.loading.load import source_of
from gleanvid.models.loading.registry import checkpoint


@dataclass(frozen=True)
class Outlook:
    """Estimated download and memory of a checkpoint.

    ``billions``: number of parameters in 10^9; ``download``: None if all files are on this machine.
    """

    name: str
    billions: float
    download: Download | None
    memory: Memory
    fit: Fit

    @property
    def text(self) -> str:
        """The estimated download size and memory as a sentence."""
        missing = 0 if self.download is None else self.download.missing
        download = (
            f"{_size(missing)} to download, then" if missing else "The model is already downloaded;"
        )
        place = "the GPU" if self.memory.device == "cuda" else "main memory"
        needed = f"it takes about {self.fit.needed_gb:.1f} GB of {place}"
        free = self.fit.free_gb
        return f"{download} {needed}" + ("." if free is None else f", where {free:.1f} are free.")


def outlook(
    name: str,
    precision: str = "auto",
    frames: int = 32,
    device: str | None = None,
    stop: threading.Event | None = None,
) -> Outlook:
    """Estimate what loading a checkpoint takes; asks the hub if files are not on this machine.

    Raises:
        ModelError: the checkpoint cannot be downloaded or read.
        ValueError: an unknown precision.
        StoppedError: ``stop`` was set.
    """
    source = source_of(name)
    folder = Path(source) if Path(source).is_dir() else cached(source)
    if folder is not None:
        download, config = None, _config(folder, name)
        weights = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    else:
        download = list_files(source, stop)
        config = read_config(download, stop)
        weights = download.weights
    family_of(SimpleNamespace(**{"model_type": "", "vision_config": None, **config}), name)
    row, available = checkpoint(name), memory(device)
    billions = (row.parameters or row.size) if row is not None else weights / 2e9
    return Outlook(
        name, billions, download, available, check_fit(billions, precision, frames, available)
    )


def _config(folder: Path, name: str) -> Mapping[str, Any]:
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{name} is damaged: its config.json cannot be read.") from error
    if not isinstance(found, dict):
        raise ModelError(f"{name} is damaged: its config.json is not a JSON object.")
    return found


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"
