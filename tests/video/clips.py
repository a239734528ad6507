"""Clips with the frame number drawn into every frame, so that wrong frames are detected."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

BITS = 9  # a frame shows its number (0 to 511): a vertical bar per bit, highest bit left


def picture(number: int, height: int = 96, width: int = 144) -> np.ndarray:
    """Return a frame, uint8 [H, W, 3]: ``number`` as bars on top, a moving gradient below."""
    bits = (number >> np.arange(BITS - 1, -1, -1)) & 1  # [BITS]
    bars = bits[np.arange(width) * BITS // width] * 255  # [W]
    shade = (np.add.outer(np.arange(height), np.arange(width)) + 5 * number) % 256  # [H, W]
    shade[: height // 2] = bars
    return np.repeat(shade[..., None], 3, axis=2).astype(np.uint8)


def numbers(frames: np.ndarray) -> list[int]:
    """Read the frame numbers written into ``frames`` [T, H, W, 3] of any size."""
    height, width = frames.shape[1:3]
    middles = (2 * np.arange(BITS) + 1) * width // (2 * BITS)
    bars = frames[:, height // 8 : 3 * height // 8].mean(axis=(1, 3))[:, middles]  # [T, BITS]
    return [int(sum(1 << k for k, bar in enumerate(row[::-1]) if bar > 127)) for row in bars]


def write_clip(
    path: Path,
    num_frames: int = 60,
    codec: str = "libx264",
    size: tuple[int, int] = (96, 144),  # height and width in pixels
    ticks: Sequence[int] | None = None,  # presentation times in milliseconds
    options: dict[str, str] | None = None,
    muxer: dict[str, str] | None = None,
    pix_fmt: str = "yuv420p",
    rotation: int = 0,
    turns: int = 0,
    fps: int = 30,
) -> Path:
    """Write a clip of ``num_frames`` numbered frames; skip the test if PyAV lacks the encoder.

    ``turns``: clockwise quarter turns of the stored frames. ``rotation``: angle in degrees in the
    file's metadata, by which a player turns them back.
    """
    try:
        av.codec.Codec(codec, "w")
    except av.codec.codec.UnknownCodecError:
        pytest.skip(f"this build of PyAV cannot encode {codec}")
    with usual_priority(), av.open(str(path), "w", options=muxer or {}) as container:
        stream = container.add_stream(codec, rate=fps, options=options or {})
        stream.height, stream.width, stream.pix_fmt = *size, pix_fmt
        if ticks is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        if rotation:
            if not hasattr(stream, "set_display_rotation"):
                pytest.skip("this version of PyAV cannot write a rotation")
            stream.set_display_rotation(rotation)
        for packet in _encode(stream, num_frames, size, ticks, turns, pix_fmt):
            container.mux(packet)
    return path


@contextmanager
def usual_priority() -> Iterator[None]:
    """Restore this thread's priority: as root, the encoder SVT-AV1 raises it to real-time."""
    try:
        yield
    finally:
        if hasattr(os, "sched_setscheduler"):  # macOS and Windows lack os.sched_setscheduler
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _encode(stream, num_frames, size, ticks, turns, pix_fmt) -> Iterable[av.Packet]:
    for number in range(num_frames):
        shown = picture(number, *(size if turns % 2 == 0 else size[::-1]))
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(np.rot90(shown, -turns)))
        frame.pts = number if ticks is None else ticks[number]
        frame.time_base = stream.codec_context.time_base if ticks is not None else Fraction(1, 30)
        yield from stream.encode(frame)
    yield from stream.encode(None)
