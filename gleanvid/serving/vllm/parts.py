"""Videos as parts of a message to a vLLM server."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from io import BytesIO
from typing import Any

from gleanvid.types import Video


def frames_part(video: Video) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return decoded frames as a part of a message, and the request field with their times.

    The part's ``uuid`` is a digest of frames and times; ``Server.records`` finds the video by
    this uuid. Frames are sent as lossless PNG under the media type ``video/jpeg``, where vLLM
    accepts any image format. The server must run with ``--trust-request-mm-kwargs``.
    """
    from PIL import Image

    encoded = []
    for frame in video.frames:
        file = BytesIO()
        Image.fromarray(frame).save(file, "PNG", compress_level=1)
        encoded.append(base64.b64encode(file.getvalue()).decode())
    times = {
        "num_frames": -1,
        "fps": float(video.fps or 1.0),
        "frames_indices": [int(index) for index in video.indices],
        "total_num_frames": max(int(video.total_frames), len(video)),
        "duration": float(video.duration),
    }
    part: dict[str, Any] = {
        "type": "video_url",
        "video_url": {"url": "data:video/jpeg;base64," + ",".join(encoded)},
    }
    part["uuid"] = "gleanvid-" + sha256(json.dumps([encoded, times]).encode()).hexdigest()
    return part, {"media_io_kwargs": {"video": times}}


def file_part(data: bytes, uuid: str | None = None) -> dict[str, Any]:
    """Return a video file as a part of a message; the server samples its frames.

    The server's caches identify the video by ``uuid``; if that is None, by the file's content.
    """
    url = "data:video/mp4;base64," + base64.b64encode(data).decode()
    return {"type": "video_url", "video_url": {"url": url}} | ({"uuid": uuid} if uuid else {})
