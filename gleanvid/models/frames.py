"""Convert frames and their metadata to the arguments of transformers' processors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from transformers.video_utils import VideoMetadata

from gleanvid.types import Video


def frame_metadata(video: Video) -> VideoMetadata:
    """Return the frame times as metadata, for processors that write times into the prompt.

    If the frame rate varies, the indices are fractional, so that index / fps is the true time.
    """
    rate = video.fps or 1.0
    return VideoMetadata(
        total_num_frames=video.total_frames,
        fps=rate,
        frames_indices=(np.asarray(video.timestamps) * rate).tolist(),
        height=video.frames.shape[1],
        width=video.frames.shape[2],
        duration=video.duration,
    )


def paired(video: Video) -> Video:
    """Return the video with an even number of frames, repeating the last one if needed."""
    if len(video) % 2 == 0:
        return video
    rows = [*range(len(video)), len(video) - 1]
    return replace(
        video,
        frames=video.frames[rows],
        timestamps=np.asarray(video.timestamps)[rows],
        indices=np.asarray(video.indices)[rows],
    )
