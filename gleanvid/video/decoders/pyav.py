"""The default decoder: PyAV, exact to the frame.

First the packets are listed. This gives the times of all frames without decoding them, even if the
frame rate varies or an edit list hides frames. Each sampled frame is then decoded from the keyframe
before it, and accepted only if its time is *equal* to the one listed. If a container cannot seek,
the file is decoded once from the start. If the file is damaged, its intact frames are counted
first, and the sample is spread over these. Pixels are assumed to be square.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from operator import itemgetter

import av.error
import numpy as np
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from gleanvid.video.decoders.packets import Index, opened, packets, quarter_turns, scan
from gleanvid.video.plan import (
    Events,
    Picture,
    Plan,
    Request,
    UnreadableVideoError,
    check_work,
    make_plan,
)

_SEEK_EARLY_S = (0.0, 1.0, 5.0)  # seconds to seek earlier, in turn: MPEG streams seek too late


def read(request: Request) -> Events:
    """Yield a plan of the frames to read, then these frames in any order."""
    index = scan(request)
    plan, rows = make_plan(
        request, index.times * index.time_base, index.size, index.fps, notes=index.notes
    )
    check_work(request, *index.size, _frames_to_decode(index, rows))
    yield plan
    missing = {int(index.times[row]): place for place, row in enumerate(rows)}
    for walk in (_by_keyframes(request, index, sorted(missing)), _from_start(request)):
        for frame in walk:
            if frame.pts in missing:
                yield missing.pop(frame.pts), _picture(frame, plan)
            if not missing:
                return
    yield from _what_is_intact(request, index)


def _frames_to_decode(index: Index, rows: np.ndarray) -> int:
    """Return how many frames must be decoded to get the wanted ones.

    These are all frames from the keyframe before a wanted frame up to the wanted frame. ``rows``
    int64 [T]: indices in ``index.times`` of the wanted frames.
    """
    keys = np.searchsorted(index.times, index.keys)
    first = keys[(np.searchsorted(keys, rows, side="right") - 1).clip(0)]  # [T]
    last = {int(key): int(row) for key, row in zip(first, rows, strict=True)}
    return sum(row - key + 1 for key, row in last.items())


def _by_keyframes(request: Request, index: Index, wanted: list[int]) -> Iterator[VideoFrame]:
    """For each wanted time, yield the frames from the keyframe before it up to that time.

    A keyframe that serves several wanted times is used once. The iteration ends early if a wanted
    time cannot be reached.
    """
    rows = np.searchsorted(index.keys, wanted, side="right") - 1
    keys = index.keys[rows.clip(0)]  # [T]
    with opened(request) as (container, stream), suppress(av.error.FFmpegError):
        for key, group in groupby(zip(keys.tolist(), wanted, strict=True), key=itemgetter(0)):
            last = max(time for _, time in group)
            first = index.times[np.searchsorted(index.times, key)]  # edit lists may hide keyframes
            for early_s in _SEEK_EARLY_S:
                container.seek(key - round(early_s / index.time_base), stream=stream)
                time = None
                for frame in _run_up(container, stream, int(first), last):
                    time = frame.pts
                    yield frame
                if time == last:
                    break
            else:
                return


def _run_up(
    container: InputContainer, stream: VideoStream, key: int, last: int
) -> Iterator[VideoFrame]:
    """Yield the frames from the keyframe at time ``key`` to the frame at ``last``.

    Frames before ``key`` are skipped, and so are errors in them: ``container`` may have sought too
    early, and in an open GOP, frames shown before the keyframe are decoded after it and need
    earlier frames. If ``container`` has sought too late, nothing is yielded.
    """
    reached = False
    for packet in packets(container, stream):
        try:
            frames = packet.decode()
        except av.error.FFmpegError:
            if reached:
                return
            continue
        for frame in frames:
            reached = reached or frame.pts == key
            if frame.pts is None or frame.pts > last or (frame.pts > key and not reached):
                return
            if reached:
                if frame.is_corrupt:
                    return
                yield frame
                if frame.pts == last:
                    return


def _from_start(request: Request) -> Iterator[VideoFrame]:
    """Decode the file from the start; yield every frame up to the first damaged one."""
    with opened(request) as (container, stream), suppress(av.error.FFmpegError):
        for packet in packets(container, stream):
            yield from packet.decode()


def _what_is_intact(request: Request, index: Index) -> Events:
    """Sample from the frames that can be decoded: yield a new plan, then its frames."""
    found = [None if frame is None else (frame.pts,) for frame in _intact(request)]
    times = [time for entry in found if entry is not None for time in entry]
    if not times:
        raise UnreadableVideoError(f"None of the frames of {request.name} can be decoded.")
    count, notes = len(times), index.notes
    pts = np.array([-1 if time is None else time for time in times], np.int64)
    timed = None not in times and len(np.unique(pts)) == count
    damaged, total = count < len(found), max(len(index.times), len(found))
    if damaged:
        notes += (f"The file is damaged: {count} of {total} frames can be decoded.",)
    plan, rows = make_plan(
        request,
        pts * index.time_base if timed else np.arange(count) / index.fps,
        index.size,
        index.fps,
        numbers=np.searchsorted(index.times, pts) if damaged and timed else None,
        total_frames=total if damaged and timed else count,
        notes=notes,
    )
    yield plan
    place = {int(row): place for place, row in enumerate(rows)}
    intact = (frame for frame in _intact(request) if frame is not None)
    for number, frame in enumerate(intact):
        if number in place:
            yield place[number], _picture(frame, plan)


def _intact(request: Request) -> Iterator[VideoFrame | None]:
    """Yield the intact frames in order, and None in place of each damaged frame.

    After a damaged frame all frames up to the next keyframe count as damaged, because they depend
    on it. Decoding uses one thread, so that PyAV raises an error for the damaged packet itself.
    """
    sound = True
    with opened(request, threads=1) as (container, stream):
        for packet in packets(container, stream):
            try:
                frames = packet.decode()
            except av.error.FFmpegError:
                sound = False
                yield None
                continue
            for frame in frames:
                sound = not frame.is_corrupt and (sound or bool(frame.key_frame))
                yield frame if sound else None


def _picture(frame: VideoFrame, plan: Plan) -> Picture:
    """Convert a decoded frame to RGB, turn it upright and scale it to the plan's size."""
    turns = quarter_turns(frame)
    height, width = plan.size[::-1] if turns % 2 else plan.size
    if (frame.height, frame.width) != (height, width):
        frame = frame.reformat(width, height, format="rgb24", interpolation="BICUBIC")
    return np.rot90(frame.to_ndarray(format="rgb24"), turns)
