"""Checks of the endpoints' arguments; every error is a sentence that names the argument."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gradio.utils import get_upload_folder


def uploaded(video: Any) -> str:
    """The path of an uploaded file. Raises ``ValueError`` for any other."""
    path = video.get("path") if isinstance(video, dict) else getattr(video, "path", None)
    uploads = Path(get_upload_folder()).resolve()
    if not isinstance(path, str) or not Path(path).resolve().is_relative_to(uploads):
        raise ValueError("video must be an uploaded file")
    return path


def known(name: str, value: Any, choices: Any) -> None:
    """Raises ``ValueError`` where ``value`` is none of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(choices)}")
