"""``count_tokens``: number of visual tokens of a clip, computed without decoding it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gleanvid.arguments import FRAMES, Frames, as_clip
from gleanvid.compressors import Compressor, as_compressor
from gleanvid.models.loading.counting import grid_of, load_without_weights
from gleanvid.models.token_model import TokenModel
from gleanvid.pipeline import MAX_SIDE
from gleanvid.types import Video
from gleanvid.video.decoders.still import is_picture
from gleanvid.video.plan import fit
from gleanvid.video.reader import blank_video


@dataclass(frozen=True)
class TokenCount:
    """Visual tokens of a clip.

    Args:
        grid: (units, rows, columns) before compression.
        kept: Tokens after compression; a mean over layers if a method drops some inside the model.
    """

    grid: tuple[int, int, int]
    kept: int

    @property
    def tokens(self) -> int:
        """Visual tokens before compression."""
        return math.prod(self.grid)


def count_tokens(
    video: Any,
    model: str | Path | TokenModel = "builtin",
    compressor: Compressor | str | None = None,
    *,
    frames: Frames = FRAMES,
) -> TokenCount:
    """Count the visual tokens of a clip without decoding a frame or loading a weight.

    Args:
        video: As in :func:`gleanvid.ask`, or the size (frames, height, width) of a file that
            does not exist yet. Only the index of a file is read, so a damaged file may have fewer
            intact frames.
        model: A loaded model, or a name, of which only configuration and processor are loaded.
        compressor: A compressor or its name; None keeps all tokens.
        frames: Which frames of a file the model sees, and how large they are.

    Returns:
        The grid of the tokens, and how many are kept.

    Raises:
        VideoError: The file cannot be used.
        ModelError: The model is not supported, or the frames do not fit into ``max_pixels``.
        ValueError: A setting out of its range, or sizes that are not positive whole numbers.

    >>> count_tokens((16, 320, 320), "builtin", "gleanvid(0.25)")
    TokenCount(grid=(8, 10, 10), kept=200)
    """
    method = as_compressor(compressor)
    clip = _clip(video, frames)
    found = load_without_weights(str(model)) if isinstance(model, (str, Path)) else model
    grid = grid_of(found, clip, frames.max_pixels)
    total = math.prod(grid)
    return TokenCount(grid, total if method is None else method.budget(range(total)))


def _clip(video: Any, frames: Frames) -> Video:
    """Return the clip, with black frames in place of those of a video file.

    A tuple (frames, height, width) also gives black frames. Other frames stay unchanged.
    """
    if isinstance(video, (str, Path)) and not is_picture(video):
        return blank_video(video, frames.num_frames, backend=frames.backend, max_side=MAX_SIDE)
    if not isinstance(video, tuple):
        return as_clip(video, frames)
    if len(video) != 3 or not all(isinstance(side, int) and side > 0 for side in video):
        raise ValueError(f"video={video!r} must be (frames, height, width), each at least 1")
    size = fit(video[1:], MAX_SIDE)
    return Video.from_frames(np.zeros((video[0], *size, 3), np.uint8))
