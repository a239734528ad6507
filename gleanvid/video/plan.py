"""The messages between reader, decoders and decoding process. Imports no decoder and no torch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

MAX_PIXELS = 8192 * 4320  # a frame larger than 8K is refused from the header
MAX_DECODED_PIXELS = 2**36  # most pixels of all frames to decode for one request: minutes of 4K
MAX_DURATION_S = 6 * 3600.0
MAX_RESULT_BYTES = 4 * 2**30  # most bytes of the sampled frames together
_SLACK_S = 1e-4  # tolerance at the end of a time span
MAX_THREADS = 4  # most threads of a decoder; each buffers frames


class UnreadableVideoError(Exception):
    """A sentence for the person who chose the file; ``read_video`` raises it as ``VideoError``."""


@dataclass(frozen=True)
class Request:
    """What to read of one file, which :func:`gleanvid.video.sniff.check_file` has let through."""

    path: str  # absolute
    name: str  # how messages call the file
    container: str  # name of FFmpeg's demuxer for it
    num_frames: int
    backend: str
    max_side: int | None = None
    part: tuple[float, float] | None = None  # first and last second; None: the whole file
    rounding: str = "nearest"
    keeps_times: bool = False  # frames of a part keep their times and numbers in the file


@dataclass(frozen=True)
class Plan:
    """The frames that a decoder is about to give. A later plan replaces it and its frames."""

    indices: list[int]  # [T] frame numbers in the source
    timestamps: list[float]  # [T] seconds from the first frame shown
    size: tuple[int, int]  # (height, width) of the frames given
    source_size: tuple[int, int]  # (height, width) as shown, before resizing
    fps: float
    duration: float  # seconds
    total_frames: int
    notes: tuple[str, ...] = ()


Picture = np.ndarray  # uint8 [height, width, 3]
Event = (
    Plan | tuple[int, Picture]
)  # a plan, or the index (0..T-1) of a frame in the plan and the frame
Events = Iterator[Event]


def uniform_indices(total: int, num_frames: int, rounding: str = "nearest") -> np.ndarray:
    """int64 [min(total, num_frames)]: evenly spaced frame numbers, the first and the last included.

    ``round(linspace(0, total - 1, num_frames))``, halves to even, as qwen_vl_utils does for the
    Qwen models of LMMs-Eval. Its LLaVA models cut off the fraction instead (``rounding="down"``):
    at most one frame earlier.
    """
    places = np.linspace(0, total - 1, min(total, num_frames))
    return (places.round() if rounding == "nearest" else places).astype(np.int64)


def fit(size: tuple[int, int], max_side: int | None) -> tuple[int, int]:
    """Scale (height, width) down so that the longer side is at most ``max_side``."""
    scale = 1.0 if max_side is None else min(1.0, max_side / max(size))
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def check_size(request: Request, height: int, width: int) -> None:
    """Raise where a frame is beyond what this reader decodes."""
    if height * width > MAX_PIXELS:
        raise UnreadableVideoError(
            f"{request.name} has frames of {width} x {height} pixels; "
            f"the limit is {MAX_PIXELS / 1e6:.0f} million pixels (8K)."
        )


def check_work(request: Request, height: int, width: int, frames: int) -> None:
    """Raise ``UnreadableVideoError`` if too many pixels would have to be decoded."""
    if height * width * frames > MAX_DECODED_PIXELS:
        raise UnreadableVideoError(
            f"{request.name} takes {frames:,} decoded frames of {width} x {height} pixels; take "
            "fewer frames, a smaller picture, or a file with more keyframes."
        )


def check_duration(request: Request, seconds: float) -> None:
    """Raise where a file lasts longer than this reader samples."""
    if seconds > MAX_DURATION_S:
        raise UnreadableVideoError(
            f"{request.name} lasts {seconds / 3600:.1f} hours; the limit is "
            f"{MAX_DURATION_S / 3600:.0f} hours. Cut out the part that matters."
        )


def make_plan(
    request: Request,
    seconds: np.ndarray,  # float64 [n], ascending: the time of every frame that can be given
    source_size: tuple[int, int],
    fallback_fps: float = 1.0,
    numbers: np.ndarray | None = None,  # int64 [n], where the frames have gaps in the source
    total_frames: int | None = None,
    notes: tuple[str, ...] = (),
) -> tuple[Plan, np.ndarray]:
    """Return the plan for ``request``, and which rows of ``seconds`` it takes, int64 [T].

    A part is planned like a file of its own: its frames count from its first, unless the request
    keeps the times of the file.
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
    """Parse seconds, ``mm:ss`` or ``hh:mm:ss``. Raises ``ValueError`` for anything else.

    >>> seconds("1:15"), seconds("7.5")
    (75.0, 7.5)
    """
    *others, last = text.split(":")
    if len(others) > 2 or not all(part.isdigit() for part in others) or not last[:1].isdigit():
        raise ValueError(f"{text!r} is no time such as 75, 75.5 or 1:15")
    total = 0
    for part in others:
        total = 60 * (total + int(part))
    return total + float(last)


def check_span(start: float | None, end: float | None) -> tuple[float, float]:
    """Return the first and last second to read. Raises ``ValueError`` unless first < last."""
    first, last = start or 0.0, math.inf if end is None else end
    if not 0 <= first < last or first == math.inf:
        raise ValueError(f"start={start!r} and end={end!r} must be seconds, 0 <= start < end")
    return first, last


def between(start: float, stop: float) -> str:
    """Say which part of a clip is meant: "between 1 and 3 seconds", "after 1 seconds"."""
    if stop < math.inf:
        return f"between {start:g} and {stop:g} seconds"
    return f"after {start:g} seconds"


def _rows_of_part(request: Request, seconds: np.ndarray) -> tuple[int, int]:
    """Return the rows [first, end) that lie in the part asked for."""
    start, stop = request.part or (0.0, 0.0)
    times = seconds - seconds[0]
    first = int(np.searchsorted(times, start - _SLACK_S))
    end = int(np.searchsorted(times, stop + _SLACK_S))
    if end <= first:
        raise UnreadableVideoError(
            f"{request.name} has no frame {between(start, stop)}; it lasts {times[-1]:.1f} seconds."
        )
    return first, end
