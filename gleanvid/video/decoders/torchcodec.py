"""torchcodec, PyTorch's own reader: frames by number, checked by their times.

PyAV lists the frames first, so both decoders sample the same frames. torchcodec 0.17 decodes
damaged frames without an error. Its package does not contain FFmpeg, so FFmpeg's libraries must be
installed on the system.
"""

from __future__ import annotations

import os

from gleanvid.video.decoders.geometry import resized
from gleanvid.video.decoders.packets import plain_scan
from gleanvid.video.plan import MAX_THREADS, Events, Request, UnreadableVideoError, make_plan

try:
    from torchcodec.decoders import VideoDecoder
except RuntimeError as error:
    raise ImportError("torchcodec does not find shared libraries of FFmpeg 4 to 9") from error


def read(request: Request) -> Events:
    index = plain_scan(request, "torchcodec")
    seconds = index.times * index.time_base
    plan, rows = make_plan(request, seconds, index.size, index.fps, notes=index.notes)
    threads = min(MAX_THREADS, os.cpu_count() or 1)
    try:
        decoder = VideoDecoder(request.path, dimension_order="NHWC", num_ffmpeg_threads=threads)
        count = decoder.metadata.num_frames
    except (RuntimeError, ValueError) as error:
        raise _refused(request, "cannot open it") from error
    if count != len(seconds):
        raise _refused(request, f"counts {count} frames, but {len(seconds)} are shown")
    yield plan
    for place, row in enumerate(rows.tolist()):
        try:
            frame = decoder.get_frame_at(row)
        except (RuntimeError, IndexError) as error:
            raise _refused(request, f"cannot decode frame {row}") from error
        if abs(frame.pts_seconds - seconds[row]) > index.time_base / 2:
            raise _refused(request, f"gave the frame at {frame.pts_seconds:g} s for frame {row}")
        yield place, resized(frame.data.numpy(), plan.size)


def _refused(request: Request, reason: str) -> UnreadableVideoError:
    return UnreadableVideoError(f"torchcodec {reason}: read {request.name} with backend='pyav'.")
