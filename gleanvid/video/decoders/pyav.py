"""The default decoder: PyAV, exact to the frame.

First the packets are listed. This gives the times of all frames without decoding them, even if the
frame rate varies or an edit list hides frames. Each sampled frame is then decoded from the keyframe
before it, and accepted only if all frames on the way have the times listed. Where times cannot tell
frames apart, a container cannot seek, or the file is damaged, its intact frames are counted first,
and the sample is spread over these.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import suppress
from itertools import groupby
from operator import itemgetter

import av.error
import numpy as np
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from gleanvid.video.decoders.geometry import shown, shown_size
from gleanvid.video.decoders.packets import Index, decoded, opened, packets, scan
from gleanvid.video.plan import Event, Events, Request, UnreadableVideoError, check_work, make_plan

_SEEK_EARLY_S = (0.0, 1.0, 5.0)  # seconds to seek earlier, in turn: MPEG streams seek too late


def read(request: Request) -> Events:
    """Yield a plan of the frames, then these in any order. Raises ``UnreadableVideoError``."""
    index = scan(request)
    if not index.exact or not (yield from _by_time(request, index)):
        yield from _in_order(request, index)


def _by_time(request: Request, index: Index) -> Generator[Event, None, bool]:
    """Seek to the wanted frames. Returns whether all were there, with the times that are listed.

    If frames have other sizes than the first one, they are read again with a plan for all sizes.
    """
    times, sizes = index.times.tolist(), {index.size}
    seconds = index.seconds(times, np.arange(len(times)))
    while True:
        size, note = _one_size(sizes)
        plan, rows = make_plan(request, seconds, size, index.fps, notes=index.notes + note)
        check_work(request, *size, _frames_to_decode(index, rows))
        yield plan
        missing, found = {times[row]: place for place, row in enumerate(rows)}, set()
        for frame in _by_keyframes(request, index, sorted(missing)):
            if frame.pts in missing:
                found.add(shown_size(frame, index.pixel))
                yield missing.pop(frame.pts), shown(frame, index.pixel, plan.size)
        if missing or found == sizes:
            return not missing
        sizes = found


def _one_size(sizes: set[tuple[int, int]]) -> tuple[tuple[int, int], tuple[str, ...]]:
    """Return the largest of the frames' sizes, and a note if there are several."""
    height, width = max(sizes, key=lambda size: (math.prod(size), size))
    note = f"The frames change their size; each is fitted into {width} x {height} pixels."
    return (height, width), (note,) * (len(sizes) > 1)


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
            first, end = np.searchsorted(index.times, (key, last))  # edit lists may hide keyframes
            wanted_run = index.times[first : end + 1].tolist()
            for early_s in _SEEK_EARLY_S:
                container.seek(key - round(early_s / index.time_base), stream=stream)
                time = None
                for frame in _run_up(container, stream, wanted_run):
                    time = frame.pts
                    yield frame
                if time == last:
                    break
            else:
                return


def _run_up(container: InputContainer, stream: VideoStream, run: list[int]) -> Iterator[VideoFrame]:
    """Yield the frames from a keyframe on, as long as they have exactly the times of ``run``.

    Frames before the keyframe are skipped, and so are errors in them: ``container`` may have sought
    too early, and in an open GOP, frames shown before the keyframe are decoded after it and need
    earlier frames. If ``container`` has sought too late, nothing is yielded.
    """
    left = deque(run)
    for packet in packets(container, stream):
        try:
            frames = packet.decode()
        except av.error.FFmpegError:
            if len(left) < len(run):
                return
            continue
        for frame in frames:
            if len(left) == len(run) and frame.pts is not None and frame.pts < run[0]:
                continue
            if frame.is_corrupt or frame.pts != left.popleft():
                return
            yield frame
            if not left:
                return


def _in_order(request: Request, index: Index) -> Events:
    """Decode the whole file, sample from the frames that are intact: yield a plan, then these.

    The file is decoded twice, first to count.
    """
    check_work(request, *index.size, len(index.times))
    found = [
        None if frame is None else (frame.pts, shown_size(frame, index.pixel))
        for frame in _intact(request)
    ]
    numbers = np.flatnonzero([entry is not None for entry in found])
    if not len(numbers):
        raise UnreadableVideoError(f"None of the frames of {request.name} can be decoded.")
    times, shapes = zip(*(entry for entry in found if entry is not None), strict=True)
    size, notes = _one_size(set(shapes))
    seconds, total = index.seconds(times, numbers), len(found)
    if len(numbers) < total and index.exact and set(times) <= set(index.times.tolist()):
        numbers, total = np.searchsorted(index.times, times), max(total, len(index.times))
    if len(numbers) < total:
        notes += (f"The file is damaged: {len(numbers)} of {total} frames can be decoded.",)
    plan, rows = make_plan(
        request,
        seconds,
        size,
        index.fps,
        numbers=numbers,
        total_frames=total,
        notes=index.notes + notes,
    )
    yield plan
    place = {int(row): place for place, row in enumerate(rows)}
    intact = (frame for frame in _intact(request) if frame is not None)
    for number, frame in enumerate(intact):
        if number in place:
            yield place[number], shown(frame, index.pixel, plan.size)


def _intact(request: Request) -> Iterator[VideoFrame | None]:
    """Yield the intact frames in order, and None in place of each damaged frame.

    After a damaged frame all frames up to the next keyframe count as damaged, because they depend
    on it. Decoding uses one thread, so that PyAV raises an error for the damaged packet itself.
    """
    sound = True
    with opened(request, threads=1) as (container, stream):
        for packet in packets(container, stream):
            try:
                frames = decoded(packet)
            except av.error.FFmpegError:
                sound = False
                yield None
                continue
            for frame in frames:
                sound = not frame.is_corrupt and (sound or bool(frame.key_frame))
                yield frame if sound else None
