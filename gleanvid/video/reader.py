"""``read_video``: reads a file into a ``Video``, or raises ``VideoError``."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from gleanvid.types import StoppedError, Video, VideoError
from gleanvid.video import decoders
from gleanvid.video.isolation import sandbox
from gleanvid.video.plan import Events, Plan, Request, UnreadableVideoError, between, check_span
from gleanvid.video.sniff import check_file, label

Backend = Literal["pyav", "torchcodec", "decord", "opencv"]
Rounding = Literal["nearest", "down"]


def read_video(
    path: str | os.PathLike[str],
    num_frames: int = 32,
    *,
    backend: Backend = "pyav",
    max_side: int | None = None,
    timeout_s: float = 120.0,
    isolate: bool = True,
    part: tuple[float, float] | None = None,
    rounding: Rounding = "nearest",
    start: float | None = None,
    end: float | None = None,
    stop: threading.Event | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Video:
    """Sample ``num_frames`` frames, evenly spaced by frame number, first and last included.

    ``timestamps`` holds their real times, also at a varying frame rate. A clip with fewer frames
    gives all, a damaged one an even sample of its intact frames; ``notes`` says so. Frames are
    upright, with square pixels. A picture file is a clip, of one frame unless it is animated.

    Args:
        path: the file.
        num_frames: at most this many frames.
        backend: "pyav" (exact), "torchcodec" (the same frames of undamaged files, slower to
            start), "decord" (as in LMMs-Eval) or "opencv" (last resort).
        max_side: pixels; larger frames are scaled down as they are decoded.
        timeout_s: seconds after which the decoding process is stopped.
        isolate: whether to decode in a process of its own. Without it, decoding has no limit on
            time or memory: for trusted files only.
        part: (first, last) second; the part is sampled as if it were a file of its own.
        rounding: "nearest" or, as in LMMs-Eval's LLaVA models, "down": to whole frame numbers.
        start: first second to sample from; frames keep their times and numbers in the file.
        end: last second to sample from.
        stop: another thread can set this event to end reading (only with ``isolate``).
        progress: called with the numbers of frames read and to read, first with 0.

    Raises:
        VideoError: the file cannot be used; the message says why.
        StoppedError: ``stop`` was set.
        ValueError: a setting is out of its range.

    >>> video = read_video("assets/clips/glimpse_1.mp4", num_frames=8)
    >>> video.frames.shape, video.source_size
    ((8, 320, 320, 3), (320, 320))
    """
    _check_settings(num_frames, backend, max_side, timeout_s)
    keeps_times = start is not None or end is not None
    if keeps_times:
        part = check_span(start, end)
    _check_part(part, rounding)
    try:
        real, container = check_file(path)
        name = label(path)
        size = num_frames, backend, max_side
        request = Request(str(real), name, container, *size, part, rounding, keeps_times)
        if not isolate:
            return _collect(decoders.decode(request), request, progress)
        return _collect(sandbox.decode(request, timeout_s, stop), request, progress)
    except UnreadableVideoError as error:
        if stop is not None and stop.is_set():
            raise StoppedError from error
        raise VideoError(str(error)) from error


def _check_settings(num_frames: int, backend: str, max_side: int | None, timeout_s: float) -> None:
    if isinstance(num_frames, bool) or not isinstance(num_frames, int) or num_frames < 1:
        raise ValueError(f"num_frames must be a whole number of at least 1, got {num_frames!r}")
    if backend not in decoders.BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(decoders.BACKENDS)}, got {backend!r}")
    if max_side is not None and not (isinstance(max_side, int) and max_side >= 1):
        raise ValueError(f"max_side must be None or at least 1 pixel, got {max_side!r}")
    if not 0 < timeout_s <= threading.TIMEOUT_MAX:
        raise ValueError(f"timeout_s must be above 0, got {timeout_s!r}")


def _check_part(part: tuple[float, float] | None, rounding: str) -> None:
    if part is not None and not 0 <= part[0] <= part[1]:
        raise ValueError(f"part={part!r} must be two times in seconds, 0 <= first <= last")
    if rounding not in get_args(Rounding):
        raise ValueError(
            f"rounding must be one of {', '.join(get_args(Rounding))}, got {rounding!r}"
        )


def _collect(
    events: Events, request: Request, progress: Callable[[int, int], object] | None = None
) -> Video:
    """Collect a decoder's frames into a ``Video``, in the order of its plan.

    If the decoder yields another plan, the frames of the plan before are discarded.
    """
    plan: Plan | None = None
    for event in events:
        if isinstance(event, Plan):
            plan = event
            frames = np.empty((len(plan.indices), *plan.size, 3), np.uint8)
            there = np.zeros(len(plan.indices), bool)
        else:
            place, picture = event
            frames[place] = picture
            there[place] = True
        if progress is not None:
            progress(int(there.sum()), len(there))
    if plan is None or not there.any():
        raise UnreadableVideoError(f"No frame of {request.name} can be decoded.")
    notes = plan.notes
    if request.keeps_times and request.part:
        notes += (f"Only frames {between(*request.part)} are used.",)
    if not there.all():
        notes += (f"{int((~there).sum())} of {len(there)} sampled frames cannot be decoded.",)
        frames = frames[there]
    return Video(
        frames=frames,
        timestamps=np.array(plan.timestamps, np.float64)[there],
        indices=np.array(plan.indices, np.int64)[there],
        fps=plan.fps,
        duration=plan.duration,
        total_frames=plan.total_frames,
        source_size=plan.source_size,
        name=request.name,
        backend=request.backend,
        notes=notes,
    )
