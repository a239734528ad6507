"""Values of LMMs-Eval's ``--model_args``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gleanvid.compressors import (
    COMPRESSORS,
    Compressor,
    declared_settings,
    from_settings,
    key_of,
    settings_in,
)
from gleanvid.compressors.full_tokens import FullTokens


def named_compressor(text: str, given: Mapping[str, Any]) -> Compressor:
    """The method written as ``text`` with ``given`` settings. Raises ``ValueError``."""
    written = settings_in(text)
    name = key_of(written.pop("name"))
    declared = declared_settings(COMPRESSORS[name])
    values: dict[str, Any] = {}
    for setting, value in (written | dict(given)).items():
        kind = declared[setting][1] if setting in declared else type(value)
        none = value is None or (isinstance(value, str) and value.lower() in ("none", "all"))
        values[setting] = None if none else float(value) if kind is float else value
    if name == FullTokens.name:
        values.pop("retention_ratio", None)  # so that one line serves all methods
    return from_settings({"name": name} | values)


def journal_path(given: str | None, rank: int, world_size: int) -> Path | None:
    """The file, one a process."""
    if given is None:
        return None
    path = Path(given).expanduser()
    path = path if path.suffix == ".jsonl" else path / "journal.jsonl"
    return path if world_size == 1 else path.with_suffix(f".{rank}-of-{world_size}.jsonl")
