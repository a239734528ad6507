"""Values of LMMs-Eval's ``--model_args``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gleanvid.compressors import COMPRESSORS, Compressor, declared_settings


def named_compressor(name: str, given: Mapping[str, Any]) -> Compressor:
    """The method of that name with ``given`` settings. Raises ``ValueError``."""
    if name not in COMPRESSORS:
        raise ValueError(f"compressor={name!r} must be one of {', '.join(COMPRESSORS)}")
    declared = declared_settings(COMPRESSORS[name])
    values: dict[str, Any] = {}
    for setting, value in COMPRESSORS[name].with_current_names(given).items():
        if setting not in declared:
            raise ValueError(f"{name} has no setting {setting}; it has {', '.join(declared)}")
        kind = declared[setting][1]
        none = isinstance(value, str) and value.lower() in ("none", "all")
        values[setting] = None if none else float(value) if kind is float else value
    if name == "full":
        values.pop("retention_ratio", None)  # so that one line serves all methods
    return COMPRESSORS[name](**values)


def journal_path(given: str | None, rank: int, world_size: int) -> Path | None:
    """The file, one a process."""
    if given is None:
        return None
    path = Path(given).expanduser()
    path = path if path.suffix == ".jsonl" else path / "journal.jsonl"
    return path if world_size == 1 else path.with_suffix(f".{rank}-of-{world_size}.jsonl")
