"""What an LMMs-Eval task asks: one video, and a text about it. Needs no LMMs-Eval."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from gleanvid.types import VideoError

Clip = tuple[str, tuple[float, float] | None]  # path, part in seconds


def video_and_text(messages: Sequence[Mapping[str, Any]]) -> tuple[Clip, str]:
    """The one video of a chat and its text. Raises ``VideoError`` where there is not one."""
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
    """What tells one question from another with the same number."""
    asked = json.dumps([clip, prompt, options], sort_keys=True, default=str)
    return hashlib.sha256(asked.encode()).hexdigest()[:12]
