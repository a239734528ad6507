"""What will happen when a checkpoint is chosen, told before it does."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from gleanvid.errors import ModelError
from gleanvid.models.families import family_of
from gleanvid.models.loading.hub import cached
from gleanvid.models.loading.listing import Download, config_of, listed
from gleanvid.models.loading.load import source_of
from gleanvid.models.loading.fit import Memory, memory
from gleanvid.models.loading.needs import Fit, fit
from gleanvid.models.loading.registry import checkpoint


@dataclass(frozen=True)
class Outlook:
    """``download`` is None where every file is on this machine."""

    name: str
    billions: float
    download: Download | None
    memory: Memory
    fit: Fit

    @property
    def text(self) -> str:
        """One sentence for the person who chooses."""
        missing = 0 if self.download is None else self.download.missing
        coming = f"{_size(missing)} to download, then" if missing else "Nothing to download;"
        place = "the GPU" if self.memory.device == "cuda" else "main memory"
        needed = f"it takes about {self.fit.needed_gb:.1f} GB of {place}"
        free = self.fit.free_gb
        return f"{coming} {needed}" + ("." if free is None else f", where {free:.1f} are free.")


def at_hub(source: str, stop: threading.Event | None = None) -> tuple[Download, dict[str, Any]]:
    """The files of a checkpoint and its configuration. Raises ``ModelError``, ``StoppedError``."""
    download = listed(source, stop)
    return download, config_of(download, stop)


def outlook(
    name: str,
    precision: str = "auto",
    frames: int = 32,
    device: str | None = None,
    hub: Callable[[str, threading.Event | None], tuple[Download, dict[str, Any]]] = at_hub,
    stop: threading.Event | None = None,
) -> Outlook:
    """Look at a checkpoint by name or folder, where it has to be downloaded at the hub.

    ``hub`` may know already what :func:`at_hub` would ask. Raises ``ModelError``: it cannot be had
    or cannot be read, ``ValueError``: the precision, and ``StoppedError`` soon after ``stop``.
    """
    source = source_of(name)
    folder = Path(source) if Path(source).is_dir() else cached(source)
    if folder is not None:
        download, config = None, _config(folder, name)
        weights = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    else:
        download, config = hub(source, stop)
        weights = download.weights
    family_of(SimpleNamespace(**{"model_type": "", "vision_config": None, **config}), name)
    row, there = checkpoint(name), memory(device)
    billions = (row.parameters or row.size) if row is not None else weights / 2e9
    return Outlook(name, billions, download, there, fit(billions, precision, frames, there))


def _config(folder: Path, name: str) -> Mapping[str, Any]:
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{name} is damaged: its config.json cannot be read.") from error
    if not isinstance(found, dict):
        raise ModelError(f"{name} is damaged: its config.json is no object.")
    return found


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"
