"""Data that the reader and a decoder exchange: requests, plans and frames.

The reader sends a ``Request``. The decoder answers with a ``Plan``, the list of the frames that it
will decode, and then with the frames. This module imports no decoder and no torch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

MAX_PIXELS = 8192 * 4320  # larger frames (above 8K) are refused before decoding
MAX_DECODED_PIXELS = 2**36  # limit on the pixels to decode for one request (8285 frames in 4K)
MAX_DURATION_S = 6 * 3600.0
MAX_RESULT_BYTES = 4 * 2**30  # limit on the bytes of all sampled frames together
_SLACK_S = 1e-4  # tolerance in seconds at both ends of a time span
MAX_THREADS = 4  # limit on the threads of a decoder, each of which buffers frames


class UnreadableVideoError(Exception):
    """Raised with a message for the user; ``read_video`` turns it into a ``VideoError``."""


@dataclass(frozen=True)
class Request:
    """Which frames to read of one file that :func:`gleanvid.video.sniff.check_file` accepted."""

    path: str  # absolute path of the file
    name: str  # file name to show in messages
    container: str  # FFmpeg's demuxer for the file
    num_frames: int
    backend: str
    max_side: int | None = None
    part: tuple[float, float] | None = None  # first and last second to read; None: the whole file
    rounding: str = "nearest"
    # whether times and frame numbers of a part count from the start of the file, not of the part
    keeps_times: bool = False


@dataclass(frozen=True)
class Plan:
    """The T frames that a decoder will yield next, and facts about the video.

    If frames turn out to be damaged, a decoder may yield another plan. Frames that it has yielded
    before are then discarded.
    """

    indices: list[int]  # [T] numbers of the frames in the file
    timestamps: list[float]  # [T] seconds after the first frame
    size: tuple[int, int]  # (height, width) of the decoded frames
    source_size: tuple[int, int]  # (height, width) as shown, before resizing
    fps: float
    duration: float  # length of the video in seconds
    total_frames: int
    notes: tuple[str, ...] = ()  # sentences for the user, such as one on missing frames


Picture = np.ndarray  # uint8 [height, width, 3]

# What a decoder yields: a plan, or a frame with its index in the plan, 0 to T - 1.
Event = Plan | tuple[int, Picture]
Events = Iterator[Event]


def uniform_indices(total: int, num_frames: int, rounding: str = "nearest") -> np.ndarray:
    """Return evenly spaced frame numbers from 0 to total - 1, int64 [min(total, num_frames)].

    They are ``round(linspace(0, total - 1, num_frames))``. Halves are rounded to even numbers, as
    qwen_vl_utils does for the Qwen models of LMMs-Eval. ``rounding="down"`` cuts off the fraction
    instead, as LMMs-Eval does for LLaVA models.
    """
    places = np.linspace(0, total - 1, min(total, num_frames))
    return (places.round() if rounding == "nearest" else places).astype(np.int64)


def fit(size: tuple[int, int], max_side: int | None) -> tuple[int, int]:
    """Return (height, width), scaled down so that the longer side is at most ``max_side``."""
    scale = 1.0 if max_side is None else min(1.0, max_side / max(size))
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def check_size(request: Request, height: int, width: int) -> None:
    """Raise ``UnreadableVideoError`` if a frame has more than ``MAX_PIXELS`` pixels."""
    if height * width > MAX_PIXELS:
        raise UnreadableVideoError(
            f"{request.name} has frames of {width} x {height} pixels; "
            f"the limit is {MAX_PIXELS / 1e6:.0f} million pixels (8K)."
        )


def check_work(request: Request, height: int, width: int, frames: int) -> None:
    """Raise ``UnreadableVideoError`` if too many pixels would have to be decoded."""
    if height * width * frames > MAX_DECODED_PIXELS:
        raise UnreadableVideoError(
            f"{request.name}: {frames:,} frames of {width} x {height} pixels are too many to "
            "decode; take fewer frames, or a file with smaller frames or more keyframes."
        )


def check_duration(request: Request, seconds: float) -> None:
    """Raise ``UnreadableVideoError`` if a video is longer than ``MAX_DURATION_S``."""
    if seconds > MAX_DURATION_S:
        raise UnreadableVideoError(
            f"{request.name} lasts {seconds / 3600:.1f} hours; the limit is "
            f"{MAX_DURATION_S / 3600:.0f} hours. Cut out the part that matters."
        )


def make_plan(
    request: Request,
    seconds: np.ndarray,  # float64 [n], ascending: times of the frames that can be decoded
    source_size: tuple[int, int],
    fallback_fps: float = 1.0,
    numbers: np.ndarray | None = None,  # int64 [n]: frame numbers in the file; None: 0 to n - 1
    total_frames: int | None = None,
    notes: tuple[str, ...] = (),
) -> tuple[Plan, np.ndarray]:
    """Choose the frames for ``request``.

    A part of a file is sampled like a whole file. Its frame numbers and times count from its first
    frame, unless the request keeps those of the file.

    Returns:
        The plan of T frames, and the index of each in ``seconds``, int64 [T].

    Raises:
        UnreadableVideoError: the part has no frame, or the frames are too large or too many.
    """
    first, origin, number = 0, seconds[0], 0
    if request.part is not None:
        first, end = _rows_of_part(request, seconds)
        numbers = np.arange(len(seconds)) if numbers is None else numbers
        seconds, numbers, total_frames = seconds[first:end], numbers[first:end], None
        if not request.keeps_times:
            origin, number = seconds[0], numbers[0]
    count = len(seconds)
    rows = uniform_indices(count, request.num_frames, request.rounding)
    span = float(seconds[-1] - seconds[0])
    fps = (count - 1) / span if span > 0 else fallback_fps
    check_duration(request, span)
    check_size(request, *source_size)
    size = fit(source_size, request.max_side)
    if len(rows) * size[0] * size[1] * 3 > MAX_RESULT_BYTES:
        raise UnreadableVideoError(
            f"{len(rows)} frames of {size[1]} x {size[0]} pixels do not fit into "
            f"{MAX_RESULT_BYTES / 2**30:.0f} GiB; take fewer frames or set max_side."
        )
    if count < request.num_frames:
        frames = "1 frame" if count == 1 else f"{count} frames"
        notes += (f"The clip has {frames}, fewer than the {request.num_frames} asked for.",)
    plan = Plan(
        indices=(rows if numbers is None else numbers[rows] - number).tolist(),
        timestamps=(seconds[rows] - origin).tolist(),
        size=size,
        source_size=source_size,
        fps=fps,
        duration=span + 1 / fps,
        total_frames=total_frames or count,
        notes=notes,
    )
    return plan, rows + first


def seconds(text: str) -> float:
    """Parse a time: seconds, ``mm:ss`` or ``hh:mm:ss``. Raises ``ValueError`` for other text.

    >>> seconds("1:15"), seconds("7.5")
    (75.0, 7.5)
    """
    *others, last = text.split(":")
    if len(others) > 2 or not all(part.isdigit() for part in others) or not last[:1].isdigit():
        raise ValueError(f"{text!r} is not a time such as 75, 75.5 or 1:15")
    total = 0
    for part in others:
        total = 60 * (total + int(part))
    return total + float(last)


def check_span(start: float | None, end: float | None) -> tuple[float, float]:
    """Return the first and last second to read; None means the start or the end of the video.

    Raises ``ValueError`` unless 0 <= first < last.
    """
    first, last = start or 0.0, math.inf if end is None else end
    if not 0 <= first < last or first == math.inf:
        raise ValueError(f"start={start!r} and end={end!r} must be seconds, 0 <= start < end")
    return first, last


def between(start: float, stop: float) -> str:
    """Format a time span of a clip: "between 1 and 3 seconds", "after 1 seconds"."""
    if stop < math.inf:
        return f"between {start:g} and {stop:g} seconds"
    return f"after {start:g} seconds"


def _rows_of_part(request: Request, seconds: np.ndarray) -> tuple[int, int]:
    """Return the frames in the requested time span, as a slice (first, end) of ``seconds``.

    Raises ``UnreadableVideoError`` if there are none.
    """
    start, stop = request.part or (0.0, 0.0)
    times = seconds - seconds[0]
    first = int(np.searchsorted(times, start - _SLACK_S))
    end = int(np.searchsorted(times, stop + _SLACK_S))
    if end <= first:
        raise UnreadableVideoError(
            f"{request.name} has no frame {between(start, stop)}; the video lasts "
            f"{times[-1]:.1f} seconds."
        )
    return first, end
