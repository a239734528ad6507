"""Reads what LMMs-Eval passes: values of ``--model_args``, and chat messages with one video.

This module does not import LMMs-Eval.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gleanvid.compressors import METHODS, Compressor, declared_settings, from_settings, key_of
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.specs import merged
from gleanvid.types import VideoError

Clip = tuple[str, tuple[float, float] | None]  # path, and time span in seconds (None: whole video)


def video_and_text(messages: Sequence[Mapping[str, Any]]) -> tuple[Clip, str]:
    """Return the video and the text of chat messages.

    Raises ``VideoError`` unless there is exactly one video, and no image.
    """
    content = [part for message in messages for part in message["content"]]
    text = "\n".join(part["text"] for part in content if part["type"] == "text")
    seen = [part for part in content if part["type"] != "text"]
    if len(seen) != 1 or seen[0]["type"] != "video":
        kinds = ", ".join(part["type"] for part in seen) or "none"
        raise VideoError(f"gleanvid models read one video a question; this one has: {kinds}")
    part = seen[0]
    url = part["url"]
    facts = url if isinstance(url, dict) else part
    path = (url.get("url") or url.get("path")) if isinstance(url, dict) else url
    start = facts.get("video_start", facts.get("start_time"))
    end = facts.get("video_end", facts.get("end_time"))
    limits = None if start is None and end is None else (float(start or 0), float(end or 1e9))
    return (str(path), limits), text


def digest(clip: Clip, prompt: str, options: Mapping[str, Any]) -> str:
    """Return a hash that identifies a question, as LMMs-Eval's question numbers are not unique."""
    asked = json.dumps([clip, prompt, options], sort_keys=True, default=str)
    return hashlib.sha256(asked.encode()).hexdigest()[:12]


def named_compressor(text: str, given: Mapping[str, Any]) -> Compressor:
    """Make the compressor named by ``text`` with the settings ``given``.

    Raises ``ValueError`` if the name or a setting is unknown, a value is out of its range, or a
    setting has two values.
    """
    written = merged(text, given)
    name = key_of(written.pop("name"))
    declared = declared_settings(METHODS[name])
    values: dict[str, Any] = {}
    for setting, value in written.items():
        kind = declared[setting][1] if setting in declared else type(value)
        none = value is None or (isinstance(value, str) and value.lower() in ("none", "all"))
        values[setting] = None if none else float(value) if kind is float else value
    if name == FullTokens.name:
        # "full" keeps all tokens: any ratio is ignored, so that one command line fits all methods
        values.pop("retention_ratio", None)
    return from_settings({"name": name} | values)


def journal_path(given: str | None, rank: int, world_size: int) -> Path | None:
    """Return the journal's path, one for each process ``rank``; None if ``given`` is None."""
    if given is None:
        return None
    path = Path(given).expanduser()
    path = path if path.suffix == ".jsonl" else path / "journal.jsonl"
    return path if world_size == 1 else path.with_suffix(f".{rank}-of-{world_size}.jsonl")
