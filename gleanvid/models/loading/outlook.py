"""How much a checkpoint has to download, and whether it fits into memory."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from huggingface_hub import hf_hub_download, try_to_load_from_cache

from gleanvid.errors import ModelError, refusing
from gleanvid.models.families import family_of
from gleanvid.models.loading.download import list_files
from gleanvid.models.loading.fit import Fit, check_fit, memory
from gleanvid.models.loading.hub import cached, explaining
from gleanvid.models.loading.load import source_of
from gleanvid.models.loading.registry import checkpoint


@dataclass(frozen=True)
class Outlook:
    """Bytes of a checkpoint that are not on this machine yet, and whether it fits into memory."""

    name: str
    missing: int
    fit: Fit


def outlook(
    name: str, precision: str = "auto", frames: int = 32, device: str | None = None
) -> Outlook:
    """Inspect a checkpoint; asks the hub if its files are not on this machine.

    Raises ``ModelError`` for a checkpoint that cannot be downloaded or that this package cannot
    read, and ``ValueError`` for an unknown precision.
    """
    source, missing = source_of(name), 0
    folder = Path(source) if Path(source).is_dir() else cached(source)
    if folder is None:
        sizes = list_files(source)
        with explaining(source):
            config = Path(hf_hub_download(source, "config.json"))
        here = [file for file in sizes if isinstance(try_to_load_from_cache(source, file), str)]
        missing = sum(sizes.values()) - sum(sizes[file] for file in here)
    else:
        sizes = {file.name: file.stat().st_size for file in folder.iterdir()}
        config = folder / "config.json"
    with refusing(ModelError, f"{name} is damaged: its config.json cannot be read"):
        facts = dict(json.loads(config.read_text(encoding="utf-8")))
    family_of(SimpleNamespace(**{"model_type": "", "vision_config": None, **facts}), name)
    row = checkpoint(name)
    weights = sum(size for file, size in sizes.items() if file.endswith(".safetensors"))
    billions = (row.parameters or row.size) if row else weights / 2e9
    return Outlook(name, missing, check_fit(billions, precision, frames, memory(device)))
