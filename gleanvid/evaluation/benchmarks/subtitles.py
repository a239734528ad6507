"""Reads subtitles for a prompt as LMMs-Eval does: those shown at evenly spaced frames."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

_TIME = re.compile(r"(\d+):(\d+):(\d+),(\d+)")
_WHITE = re.compile(r'<font color="white" size=".72c">(.*?)</font>')  # mark-up of Video-MME's files


def lines_on_screen(path: Path, fps: float, total_frames: int, num_frames: int) -> str:
    """Return the subtitles of an SRT file that are shown at evenly spaced frames, one per line.

    A subtitle shown at several of the frames is listed once. Texts without the mark-up of
    Video-MME's files are left out, as in the official evaluation.
    """
    frames = np.linspace(0, total_frames - 1, num_frames, dtype=int)
    found = []
    for start, end, text in _entries(path.read_text(encoding="utf-8")):
        first, last = int(start * fps), int(end * fps)
        if ((frames >= first) & (frames < last)).any():
            found += _WHITE.findall(text)[:1]
    return "\n".join(found)


def _entries(srt: str) -> Iterator[tuple[float, float, str]]:
    """Yield (start, end, text) for every entry of an SRT file, times in seconds."""
    for block in srt.replace("\r\n", "\n").split("\n\n"):
        lines = block.strip().split("\n")
        times = _TIME.findall(lines[1]) if len(lines) >= 3 else []
        if len(times) == 2:
            start, end = (
                int(h) * 3600 + int(m) * 60 + int(s) + int(ms) / 1000 for h, m, s, ms in times
            )
            yield start, end, " ".join(lines[2:])
