"""decord 0.6.0, the reader of LMMs-Eval: for parity with published numbers, not the default.

decord is unmaintained since 2021. On files with open groups of pictures (x265's default) it returns
neighbouring frames in place of the requested ones, without an error. Containers for which it is
known to be wrong are refused. It gets one decoding thread, because its default of zero fails on
some VP9 files.
"""

from __future__ import annotations

import decord
import numpy as np

from gleanvid.video.decoders.packets import resized
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
    failures = (decord.DECORDError, RuntimeError)
    try:
        reader = decord.VideoReader(request.path, ctx=decord.cpu(0), num_threads=1)
        height, width = reader[0].shape[:2]
        seconds = reader.get_frame_timestamp(range(len(reader)))[:, 0].astype(np.float64)
    except (*failures, IndexError) as error:
        raise UnreadableVideoError(
            f"decord cannot read {request.name}: it is damaged, without a video track, or in a "
            "codec that decord does not know (such as AV1). Try backend='pyav'."
        ) from error
    plan, rows = make_plan(request, seconds, (height, width), float(reader.get_avg_fps()))
    yield plan
    for place, row in enumerate(rows):
        try:
            picture = reader.get_batch([int(row)]).asnumpy()[0]
        except failures as error:
            raise UnreadableVideoError(
                f"decord cannot decode frame {row} of {request.name}. Try backend='pyav'."
            ) from error
        yield place, resized(picture, plan.size)
