"""Reading video files: exact, evenly spaced frames, or a sentence saying why not.

``read_video`` is the only name to use. It is looked up on first use, because the decoding process
imports this package too and must not pay for importing torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gleanvid.video.reader import read_video as read_video

__all__ = ["read_video"]


def __getattr__(name: str) -> object:
    if name == "read_video":
        from gleanvid.video.reader import read_video

        return read_video
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
