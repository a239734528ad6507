"""Read evenly spaced frames from video files, or say in an error why that failed.

``read_video`` is the only public name. It is imported on first use, because the decoding process
imports this package, too, and need not wait for torch.
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
