"""List the times of all frames of a file with PyAV. Only the first frame is decoded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import av
import av.error
import numpy as np
from av.container import InputContainer
from av.stream import Disposition
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from gleanvid.video.plan import (
    MAX_PIXELS,
    MAX_THREADS,
    Picture,
    Request,
    UnreadableVideoError,
    check_duration,
    check_size,
)

_LOCAL = {"protocol_whitelist": "file"}
_TITLES: Any = (  # before PyAV 19, a title in Latin-1 would raise an error
    {"metadata_errors": "replace"} if int(av.__version__.partition(".")[0]) < 19 else {}
)
_STRICT = {"err_detect": "explode", "max_pixels": str(MAX_PIXELS)}  # raise an error at damaged data


@dataclass(frozen=True)
class Index:
    """The times of all frames of a file, and their size."""

    times: np.ndarray  # int64 [n] presentation times in units of ``time_base``, ascending
    keys: np.ndarray  # int64 [k] times of keyframes, even of those that an edit list hides
    time_base: float  # seconds per unit of ``times`` and ``keys``
    fps: float
    size: tuple[int, int]  # (height, width) as displayed
    notes: tuple[str, ...]


@contextmanager
def opened(
    request: Request, threads: int = MAX_THREADS
) -> Iterator[tuple[InputContainer, VideoStream]]:
    """Open a file and its main video stream, so that damaged data raises an error.

    Raises ``UnreadableVideoError`` if there is no readable video, or if it is too large or long.
    """
    try:
        container = av.open(
            request.path, format=request.container, container_options=_LOCAL, **_TITLES
        )
    except av.error.FFmpegError as error:
        raise UnreadableVideoError(_why_not_opened(request)) from error
    with container:
        stream = container.streams.best("video")
        if not isinstance(stream, VideoStream) or stream.disposition & Disposition.attached_pic:
            raise UnreadableVideoError(f"{request.name} has no video track, only sound or data.")
        context = stream.codec_context
        if context is None:
            raise UnreadableVideoError(
                f"{request.name} is encoded in a way this decoder does not know."
            )
        check_size(request, context.height, context.width)
        check_duration(request, (container.duration or 0) / av.time_base)
        context.options = _STRICT
        context.thread_count = min(threads, os.cpu_count() or 1)
        context.thread_type = "AUTO" if threads > 1 else "NONE"
        yield container, stream


def _why_not_opened(request: Request) -> str:
    if request.container == "mov":
        return (
            f"{request.name} is incomplete or damaged: its table of contents is missing. "
            "The upload or download may have been cut short."
        )
    return f"{request.name} is damaged and cannot be read."


def scan(request: Request) -> Index:
    """Read the times of all frames; decode only the first frame, for its size."""
    times, keys, end = [], [], 0.0
    first: VideoFrame | None = None
    with opened(request) as (container, stream):
        for packet in packets(container):
            if packet.pts is not None and packet.time_base:
                end = max(end, float((packet.pts + (packet.duration or 0)) * packet.time_base))
            if packet.stream_index != stream.index:
                continue
            if first is None:
                first = _first_picture(packet, request)
            if packet.pts is not None and packet.is_keyframe:
                keys.append(packet.pts)
            if packet.pts is not None and not packet.is_discard:  # discard: hidden by an edit list
                times.append(packet.pts)
        if first is None:
            raise UnreadableVideoError(
                f"None of the frames of {request.name} can be decoded "
                f"({stream.codec_context.name}); they are damaged or encrypted."
            )
        promised = (container.duration or 0) / av.time_base
        # A start after time 0 is ignored, because the duration in a Matroska file counts from 0.
        start = min(0, container.start_time or 0) / av.time_base
        size = (first.height, first.width)
        return Index(
            times=np.unique(np.array(times or [0], np.int64)),
            keys=np.unique(np.array(keys or [0], np.int64)),
            time_base=float(stream.time_base or 1),
            fps=float(stream.average_rate or 1),
            size=size[::-1] if quarter_turns(first) % 2 else size,
            notes=_shortfall(promised, end - start),
        )


def packets(
    container: InputContainer, stream: VideoStream | None = None
) -> Iterator[av.Packet[Any]]:
    """Yield the packets of ``stream``, or of all streams, until the file cannot be read further."""
    # PyAV raises IndexError for a track that begins after the start of the file.
    with suppress(av.error.FFmpegError, IndexError):
        yield from container.demux() if stream is None else container.demux(stream)


def _first_picture(packet: av.Packet[Any], request: Request) -> VideoFrame | None:
    if hasattr(packet, "has_sidedata") and packet.has_sidedata("encryption_info"):  # PyAV 16+
        raise UnreadableVideoError(f"{request.name} is encrypted (copy protection).")
    with suppress(av.error.FFmpegError):
        return next(iter(packet.decode()), None)
    return None


def _shortfall(promised: float, there: float) -> tuple[str, ...]:
    """Return a note if the file has clearly fewer seconds than its header states."""
    if promised - there <= max(1.0, 0.05 * promised):
        return ()
    return (f"The file is cut short: {there:.1f} of {promised:.1f} seconds are there.",)


def quarter_turns(frame: VideoFrame) -> int:
    """Return how many counter-clockwise quarter turns put the frame upright."""
    return round(frame.rotation / 90) % 4


def resized(picture: Picture, size: tuple[int, int]) -> Picture:
    """Scale an RGB frame to ``size`` (height, width), if it has another size.

    Not every decoder can scale: decord fails if the width is not a multiple of 32 pixels.
    """
    if picture.shape[:2] == size:
        return picture
    frame = VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
    return frame.reformat(size[1], size[0], interpolation="BICUBIC").to_ndarray()
