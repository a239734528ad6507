"""List the times of all frames of a file with PyAV. Only the first frame is decoded."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import av
import av.error
import av.subtitles.codeccontext  # PyAV imports these two when a file has subtitles,
import av.subtitles.stream  # but a decoding process may then open no other file
import numpy as np
from av.bitstream import BitStreamFilterContext
from av.container import InputContainer
from av.stream import Disposition
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from gleanvid.video.decoders.geometry import orientation, shown_size
from gleanvid.video.plan import MAX_PIXELS, MAX_THREADS, Request, UnreadableVideoError, check_size

TS_DISCONT = 0x0200  # AVFMT_TS_DISCONT: times may leap in files of this format
LEAP_S = 10.0  # longer gaps between two frames are no pause in formats of joined recordings
MOST_LEAPS = 0.1  # fraction of frames at which times may go back before they are not used at all
MOST_READ = 0.75  # fraction of a file; if less was read, a note says so
# codec -> types of its NAL units with supplemental messages
_MESSAGES = {"h264": "6", "hevc": "39|40"}
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
    size: tuple[int, int]  # (height, width) of the first frame as shown
    pixel: Fraction  # width of a stored pixel per height
    # whether a frame can be found by its time; if not, only decoding from the start gives the order
    exact: bool
    mirrored: bool
    joined: bool  # whether a long gap between two times is no pause, as in joined recordings
    notes: tuple[str, ...]

    def seconds(self, times: Sequence[int | None], numbers: np.ndarray) -> np.ndarray:
        """Return when frames of these times and numbers [n] are shown: float64 [n], ascending.

        Where times go back, or leap in a format of joined recordings, the next frame follows after
        the usual step. Times that are missing or out of order are replaced by the numbers.
        """
        if None in times:
            return numbers / self.fps
        steps: np.ndarray = np.diff(np.array(times, np.int64)) * self.time_base
        leaps = (steps <= 0) | (steps > (LEAP_S if self.joined else np.inf))
        if leaps.sum() > MOST_LEAPS * len(leaps):
            return numbers / self.fps
        if leaps.any():
            steps[leaps] = np.median(steps[~leaps])
        return np.concatenate([[0], steps]).cumsum()


@contextmanager
def opened(
    request: Request, threads: int = MAX_THREADS
) -> Iterator[tuple[InputContainer, VideoStream]]:
    """Open a file and its main video stream, decoded by ``threads``; damaged data raises an error.

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
    """Read the times of all frames; decode only the first. Raises ``UnreadableVideoError``."""
    times, pts, orders, keys = [], [], [], []
    end, listed, reached = 0.0, True, 0
    first: VideoFrame | None = None
    with opened(request, threads=1) as (container, stream):
        context, pixel = stream.codec_context, stream.sample_aspect_ratio or Fraction(1)
        joined = bool(container.format.flags & TS_DISCONT)
        for packet in packets(container):
            if packet.pts is not None and packet.time_base:
                end = max(end, float((packet.pts + (packet.duration or 0)) * packet.time_base))
            if packet.stream_index != stream.index:
                continue
            reached = max(reached, (packet.pos or 0) + packet.size)
            if first is None:
                first = _first_picture(packet, request)
            if packet.pts is None:
                listed &= not packet.size  # the last packet is empty
                continue
            pts.append(packet.pts)
            orders += [] if packet.dts is None else [packet.dts]
            keys += [packet.pts] if packet.is_keyframe else []
            if not packet.is_discard:  # discard: hidden by an edit list
                times.append(packet.pts)
        if first is None:
            raise UnreadableVideoError(
                f"None of the frames of {request.name} can be decoded "
                f"({context.name}); they are damaged or encrypted."
            )
        promised = 0 if joined else (container.duration or 0) / av.time_base
        # A start after time 0 is ignored, because the duration in a Matroska file counts from 0.
        start = min(0, container.start_time or 0) / av.time_base
        unique = np.unique(np.array(times or [0], np.int64))
        # Without presentation times, frames that the decoder will reorder seem to come in order.
        timeless = len(times) > 2 and (request.container == "avi" or pts == orders)
        unordered = timeless and context.has_b_frames and times == unique.tolist()
        return Index(
            times=unique,
            keys=np.unique(np.array(keys or [0], np.int64)),
            time_base=float(stream.time_base or 1),
            fps=float(stream.average_rate or stream.guessed_rate or 1),
            size=shown_size(first, pixel),
            pixel=pixel,
            # A palette comes once, with the first packet, so no decoder may start elsewhere.
            exact=listed
            and len(unique) == len(times)
            and orders == sorted(orders)
            and not unordered
            and context.pix_fmt != "pal8",
            joined=joined,
            mirrored=sum(orientation(first)) % 2 == 1,
            notes=_shortfall(promised, end - start) + _rest(request, reached / container.size),
        )


def packets(
    container: InputContainer, stream: VideoStream | None = None
) -> Iterator[av.Packet[Any]]:
    """Yield the packets of ``stream``, or of all streams, until the file cannot be read further."""
    # PyAV raises IndexError for a track that begins after the start of the file.
    with suppress(av.error.FFmpegError, IndexError):
        yield from container.demux() if stream is None else container.demux(stream)


def decoded(packet: av.Packet[Any]) -> list[VideoFrame]:
    """Decode a packet with one thread; if that fails, without its supplemental messages.

    A damaged message says nothing about the picture. Raises ``FFmpegError`` for a damaged picture.
    """
    pts = packet.pts
    try:
        return packet.decode()
    except av.error.FFmpegError:
        context = packet.stream.codec_context
        if context.name not in _MESSAGES:
            raise
        kinds = f"filter_units=remove_types={_MESSAGES[context.name]}"
        frames = []
        for part in BitStreamFilterContext(kinds, packet.stream).filter(packet):
            if (context.extradata or b"")[:1] == b"\1":  # the decoder expects lengths, not marks
                units = re.split(b"\0{2,3}\1", bytes(part))[1:]
                part = av.Packet(b"".join(len(unit).to_bytes(4) + unit for unit in units))
                part.pts = pts
            frames += context.decode(part)
        return frames


def _first_picture(packet: av.Packet[Any], request: Request) -> VideoFrame | None:
    if hasattr(packet, "has_sidedata") and packet.has_sidedata("encryption_info"):  # PyAV 16+
        raise UnreadableVideoError(f"{request.name} is encrypted (copy protection).")
    with suppress(av.error.FFmpegError):
        return next(iter(decoded(packet)), None)
    return None


def plain_scan(request: Request, reader: str) -> Index:
    """Return a file's index; ``UnreadableVideoError`` if ``reader`` reads its kind wrongly."""
    index = scan(request)
    if index.mirrored or not index.exact:
        raise UnreadableVideoError(
            f"{reader} does not read files such as {request.name} correctly; "
            "read it with backend='pyav'."
        )
    return index


def _rest(request: Request, part: float) -> tuple[str, ...]:
    """Return a note if a track ends early in a file to which another recording may be joined."""
    if request.container not in ("mpegts", "flv") or part > MOST_READ:
        return ()
    return (f"Only the first {part:.0%} of the file are read; another recording may follow.",)


def _shortfall(promised: float, there: float) -> tuple[str, ...]:
    """Return a note if the file has clearly fewer seconds than its header states."""
    if promised - there <= max(1.0, 0.05 * promised):
        return ()
    return (
        f"The file is cut short, or its header is wrong: {there:.1f} of {promised:.1f} seconds "
        "are there.",
    )
