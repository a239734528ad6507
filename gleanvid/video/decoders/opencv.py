"""OpenCV, the last resort if neither PyAV nor decord is installed.

OpenCV's seeking and frame counts cannot be trusted: it may return an earlier frame as a new one, or
a count of -9e18. So the file is read twice from the start, first to count the frames and to note
their times, then to take the sampled ones. OpenCV stops at the first damaged frame.
"""

from __future__ import annotations

import cv2
import numpy as np

from gleanvid.video.plan import (
    MAX_THREADS,
    Events,
    Request,
    UnreadableVideoError,
    check_duration,
    check_size,
    make_plan,
)

_MAX_COUNT = 10**7  # larger frame counts in a file's header are ignored


def read(request: Request) -> Events:
    seconds, size, fps, notes = _survey(request)
    plan, rows = make_plan(request, seconds, size, fps, notes=notes)
    yield plan
    places = {int(row): place for place, row in enumerate(rows)}
    capture = _opened(request)
    for number in range(len(seconds)):
        if not capture.grab():
            raise UnreadableVideoError(f"OpenCV stopped reading {request.name} at frame {number}.")
        if number not in places:
            continue
        there, picture = capture.retrieve()
        if not there:
            raise UnreadableVideoError(f"OpenCV cannot decode frame {number} of {request.name}.")
        if picture.shape[:2] != plan.size:
            picture = cv2.resize(picture, plan.size[::-1], interpolation=cv2.INTER_AREA)
        yield places.pop(number), cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)
        if not places:
            return


def _survey(request: Request) -> tuple[np.ndarray, tuple[int, int], float, tuple[str, ...]]:
    """Return the time of every frame that can be decoded, their size, the frame rate, and notes."""
    capture = _opened(request)
    first, milliseconds = None, []
    while capture.grab():
        if first is None:
            first = capture.retrieve()[1]
        milliseconds.append(capture.get(cv2.CAP_PROP_POS_MSEC))
    if first is None:
        raise UnreadableVideoError(
            f"None of the frames of {request.name} can be decoded; OpenCV may lack the codec."
        )
    fps = float(capture.get(cv2.CAP_PROP_FPS)) or 1.0
    seconds = np.array(milliseconds) / 1000
    if len(seconds) > 1 and seconds[-1] <= 0:  # some containers leave the last frame without a time
        seconds[-1] = seconds[-2] + 1 / fps
    if np.any(np.diff(seconds) <= 0):
        seconds = np.arange(len(seconds)) / fps
    promised = capture.get(cv2.CAP_PROP_FRAME_COUNT)
    notes: tuple[str, ...] = ()
    if 0 < promised < _MAX_COUNT and len(seconds) < 0.95 * promised - 1:
        notes = (f"{len(seconds)} frames can be decoded; the file states {promised:.0f}.",)
    return seconds, first.shape[:2], fps, notes


def _opened(request: Request) -> cv2.VideoCapture:
    threads = [cv2.CAP_PROP_N_THREADS, MAX_THREADS]
    capture = cv2.VideoCapture(request.path, cv2.CAP_FFMPEG, threads)
    if not capture.isOpened():
        raise UnreadableVideoError(
            f"{request.name} cannot be opened: it is damaged, or it has no video track."
        )
    seconds = capture.get(cv2.CAP_PROP_FRAME_COUNT) / (capture.get(cv2.CAP_PROP_FPS) or 1.0)
    check_duration(request, seconds)
    width, height = (capture.get(cv2.CAP_PROP_FRAME_WIDTH), capture.get(cv2.CAP_PROP_FRAME_HEIGHT))
    check_size(request, int(height), int(width))
    return capture
