"""Find and read the clips named on the command line: videos, recordings, folders of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gleanvid.api.pipeline import MAX_SIDE
from gleanvid.evaluation.recording.file_format import is_recording
from gleanvid.evaluation.recording.recording import open_recording
from gleanvid.types import Video
from gleanvid.video import read_video
from gleanvid.video.reader import Backend

SUFFIXES = (".mp4", ".mkv", ".webm", ".mov", ".avi", ".m4v", ".mpg", ".mpeg", ".ts", ".wmv", ".flv")


def find_clips(places: Sequence[str | Path]) -> list[Path]:
    """Return the named files, and the videos and recordings in the named folders.

    Raises ``ValueError`` if there are none.
    """
    found: list[Path] = []
    for place in map(Path, places):
        if place.is_dir():
            inside = (path for path in place.rglob("*") if _is_clip(path))
            found += sorted(path for path in inside if path.is_file())
        else:
            found.append(place)
    if not found:
        raise ValueError(f"no video found in {', '.join(map(str, places))} ({', '.join(SUFFIXES)})")
    return found


def _is_clip(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES or is_recording(path)


def named_clips(places: Sequence[str | Path]) -> dict[str, Path]:
    r"""Map result names to videos: the path below a named folder, or the name of a named file.

    Bytes of a name that are no UTF-8 become escapes, such as a\xff.mp4.

    Raises ``ValueError`` if there is no video or if two would have the same name.
    """
    named: dict[str, Path] = {}
    for place in map(Path, places):
        for path in find_clips([place]):
            name = path.relative_to(place).as_posix() if place.is_dir() else path.name
            name = os.fsencode(name).decode("utf-8", "backslashreplace")
            if name in named:
                raise ValueError(
                    f"{named[name]} and {path} would both be called {name}: compress them in "
                    "two runs with different folders"
                )
            named[name] = path
    return named


def read_clip(path: str | Path, num_frames: int, backend: Backend = "pyav") -> Video:
    """Return ``num_frames`` frames of a video, or all frames of a recording.

    Raises ``VideoError`` or ``ValueError`` if the file cannot be read.
    """
    if is_recording(path):
        return open_recording(path).video
    return read_video(path, num_frames, backend=backend, max_side=MAX_SIDE)
