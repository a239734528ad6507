"""decord 0.6.0, the reader of LMMs-Eval: for parity with published numbers, not the default.

decord is unmaintained since 2021. On files with open groups of pictures (x265's default) it returns
neighbouring frames in place of the requested ones, without an error. Files for which it is known to
be wrong are refused. It takes pixels for square, as the published numbers do. It gets one decoding
thread, because its default of zero fails on some VP9 files.
"""

from __future__ import annotations

import decord

from gleanvid.video.decoders.geometry import resized
from gleanvid.video.decoders.packets import plain_scan
from gleanvid.video.plan import Events, Request, UnreadableVideoError, make_plan

_REFUSED = {
    "mpegts": "MPEG transport streams",
    "mpeg": "MPEG program streams",
    "mpegvideo": "raw MPEG video",
    "asf": "Windows Media files",
    "gif": "GIF files",
}


def read(request: Request) -> Events:
    if request.container in _REFUSED:
        raise UnreadableVideoError(
            f"decord does not read {_REFUSED[request.container]} correctly; "
            f"read {request.name} with backend='pyav'."
        )
    index = plain_scan(request, "decord")
    failures = (decord.DECORDError, RuntimeError)
    try:
        reader = decord.VideoReader(request.path, ctx=decord.cpu(0), num_threads=1)
        size = reader[0].shape[:2]
    except (*failures, IndexError) as error:
        raise UnreadableVideoError(
            f"decord cannot read {request.name}: it is damaged, without a video track, or in a "
            "codec that decord does not know (such as AV1). Try backend='pyav'."
        ) from error
    if len(reader) != len(index.times):
        raise UnreadableVideoError(
            f"decord counts {len(reader)} frames in {request.name}, but {len(index.times)} are "
            "shown; read it with backend='pyav'."
        )
    seconds = index.times * index.time_base
    plan, rows = make_plan(request, seconds, size, index.fps, notes=index.notes)
    yield plan
    for place, row in enumerate(rows):
        try:
            picture = reader.get_batch([int(row)]).asnumpy()[0]
        except failures as error:
            raise UnreadableVideoError(
                f"decord cannot decode frame {row} of {request.name}. Try backend='pyav'."
            ) from error
        yield place, resized(picture, plan.size)
