"""Values passed through the library, such as videos and tokens: frozen and shape-checked.

Letters used for shapes everywhere: T temporal units, N tokens per unit (rows x columns, row-major),
D feature width, L = T*N visual tokens of one video, K kept tokens, Q question tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from gleanvid.compression import Compression as Compression
from gleanvid.errors import ModelError as ModelError
from gleanvid.errors import StoppedError as StoppedError
from gleanvid.errors import VideoError as VideoError

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class Video:
    """The frames that were sampled from a video, with their times.

    Args:
        frames: uint8 [T, H, W, 3], RGB.
        timestamps: float64 [T], seconds after the first frame of the source.
        indices: int64 [T], frame numbers in the source.
        fps: Average frame rate of the source, in frames per second.
        duration: Length of the source in seconds.
        total_frames: Number of frames in the source.
        source_size: (height, width) of the source in pixels, before any resizing.
        name: Name to display, such as the name of the file.
        backend: The decoder of the file.
        notes: Remarks for the user, such as that there are fewer frames than asked for.

    Raises:
        ValueError: Shapes do not agree, or there is no frame.

    >>> video = Video.from_frames(np.zeros((4, 48, 64, 3), np.uint8), fps=2.0)
    >>> len(video), video.duration
    (4, 2.0)
    """

    frames: np.ndarray
    timestamps: np.ndarray
    indices: np.ndarray
    fps: float
    duration: float
    total_frames: int
    source_size: tuple[int, int]
    name: str = "video"
    backend: str = "memory"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        frames = self.frames
        if frames.ndim != 4 or frames.shape[-1] != 3 or frames.dtype != np.uint8:
            raise ValueError(
                f"frames must be uint8 [T, H, W, 3], got {frames.dtype} {list(frames.shape)}"
            )
        for label in ("timestamps", "indices"):
            if len(getattr(self, label)) != len(frames):
                raise ValueError(f"{label} must have one entry per frame ({len(frames)})")
        if not len(frames):
            raise ValueError("a video needs at least one frame")

    def __len__(self) -> int:
        return len(self.frames)

    def __repr__(self) -> str:
        height, width = self.frames.shape[1:3]
        size = f"{len(self)} frames of {width}x{height}"
        return f"{type(self).__name__}({self.name!r}, {size}, {self.duration:.1f} s)"

    @classmethod
    def from_frames(
        cls,
        frames: np.ndarray,
        fps: float | None = None,
        name: str = "video",
        *,
        timestamps: Sequence[float] | np.ndarray | None = None,
    ) -> Video:
        """Return a video of frames that are already in memory.

        Args:
            frames: uint8 [T, H, W, 3], RGB. More than one frame needs ``fps`` or ``timestamps``, as
                models read when each frame is shown.
            fps: Frames per second, above 0.
            name: Name to display.
            timestamps: [T], the second at which each frame is shown, ascending from 0 or later.

        Raises:
            ValueError: Another shape or type of frames, or no times, or both kinds of times.
        """
        frames = np.asarray(frames)
        if frames.ndim != 4:
            raise ValueError(f"frames must be uint8 [T, H, W, 3], got {list(frames.shape)}")
        count, *size = frames.shape[:3]
        seconds, rate = _times(count, fps, timestamps)
        duration = count / rate if timestamps is None else float(seconds[-1] + 1 / rate)
        return cls(frames, seconds, np.arange(count), rate, duration, count, tuple(size), name)


def _times(count: int, fps: Any, timestamps: Any) -> tuple[np.ndarray, float]:
    """Return the second of each of ``count`` frames, float64 [T], and the mean frame rate."""
    if fps is not None and timestamps is not None:
        raise ValueError("give fps or timestamps of the frames, not both")
    if fps is None and timestamps is None and count > 1:
        raise ValueError(
            "frames in memory have no times of their own: make the video with "
            "Video.from_frames(frames, fps=...) or Video.from_frames(frames, timestamps=[...])"
        )
    if timestamps is None:
        rate = 1.0 if fps is None else float(fps)  # None: a single frame
        if not 0 < rate < np.inf:
            raise ValueError(f"fps={fps} must be above 0")
        return np.arange(count) / rate, rate
    seconds = np.asarray(timestamps, np.float64)
    steps = np.diff(seconds, prepend=0.0)
    if seconds.shape != (count,) or not np.isfinite(steps).all() or steps.min(initial=0) < 0:
        raise ValueError(f"timestamps must be {count} seconds, ascending from 0 or later")
    span = float(seconds[-1] - seconds[0]) if count else 0.0
    return seconds, (count - 1) / span if span else 1.0


def _check_features(features: Any) -> None:
    if not isinstance(features, torch.Tensor):
        raise TypeError(f"features must be a torch.Tensor, got {type(features).__name__}")
    if features.is_meta:
        raise ValueError("features are on the device 'meta', which holds no numbers")
    if not features.is_floating_point() or features.element_size() < 2:
        raise ValueError(f"features must be float16, bfloat16 or wider, got {features.dtype}")


_SIGNALS = ("saliency", "keys", "text", "attention")  # fields that the repr lists if they are set


@dataclass(frozen=True, eq=False)
class VideoTokens:
    """The visual tokens of one video as the language model would receive them.

    Features and grid are enough for most methods; all else is optional. A temporal unit has
    N = rows * columns tokens. L = T * N, or fewer if an earlier stage has dropped tokens.

    Args:
        features: [L, D], unit by unit, row by row. Inside the language model: hidden states.
        grid: (T, rows, columns).
        seconds: [T, 2], first and last second of each unit.
        rectangles: [N, 4], the part of the frame that each token of a unit shows, in pixels of the
            source (left, top, right, bottom).
        saliency: [L], how much the vision tower attends to each token.
        keys: [L, Dk], the vision tower's attention keys.
        text: [Q, D], embeddings of the question.
        attention: [heads, R, L], attention weights from R prompt tokens to the visual tokens, in
            the previous layer. Only inside the language model, with all heads combined into one.
        positions: [L], each token's flat index in the grid. None: no token has been dropped.
        previous: The record of the previous compression stage. A method may read its ``state``.

    Raises:
        ValueError: Shapes do not agree, or features hold NaN or infinite values.

    >>> tokens = VideoTokens(torch.rand(24, 8), grid=(2, 3, 4))
    >>> tokens.num_units, tokens.tokens_per_unit
    (2, 12)
    """

    features: Tensor
    grid: tuple[int, int, int]
    seconds: Tensor | None = None
    rectangles: Tensor | None = None
    saliency: Tensor | None = None
    keys: Tensor | None = None
    text: Tensor | None = None
    attention: Tensor | None = None
    positions: Tensor | None = None
    previous: Compression | None = None

    def __post_init__(self) -> None:
        if len(self.grid) != 3 or min(self.grid) < 1:
            raise ValueError(
                f"grid must be (units, rows, columns), all at least 1, got {self.grid}"
            )
        _check_features(self.features)
        expected = self.num_units * self.tokens_per_unit
        if self.positions is not None:
            expected = len(self.positions)
        if self.features.ndim != 2 or len(self.features) != expected:
            raise ValueError(
                f"features must be [{expected}, D] for grid {self.grid}, "
                f"got {list(self.features.shape)}"
            )
        if self.features.shape[1] == 0:
            raise ValueError("features must have at least one channel")
        for label in ("saliency", "keys"):
            signal = getattr(self, label)
            if signal is not None and len(signal) != expected:
                raise ValueError(f"{label} must have {expected} rows, got {len(signal)}")
        low, high = torch.aminmax(self.features)
        if not torch.isfinite(high - low if low.dtype == torch.float64 else high.float() - low):
            raise ValueError("features hold NaN or infinite values")

    @classmethod
    def from_grid(cls, features: Tensor) -> VideoTokens:
        """Return tokens from features [T, rows, columns, D].

        Raises ``TypeError`` if ``features`` is not a tensor, ``ValueError`` for another shape.

        >>> len(VideoTokens.from_grid(torch.rand(2, 3, 4, 8)))
        24
        """
        _check_features(features)
        if features.ndim != 4:
            raise ValueError(f"features must be [T, rows, columns, D], got {list(features.shape)}")
        units, rows, columns, _ = features.shape
        return cls(features.flatten(0, 2), (units, rows, columns))

    def placed(self) -> tuple[Tensor, Tensor]:
        """Return ``seconds`` and ``rectangles`` on the CPU.

        Raises ``ValueError`` if one of the two is None.
        """
        if self.seconds is None or self.rectangles is None:
            raise ValueError("the model adapter set no seconds and rectangles of its visual tokens")
        return self.seconds.cpu(), self.rectangles.cpu()

    @property
    def num_units(self) -> int:
        """T: temporal units of the clip."""
        return self.grid[0]

    @property
    def tokens_per_unit(self) -> int:
        """N = rows * columns: tokens of one unit before compression."""
        return self.grid[1] * self.grid[2]

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        kind = str(self.features.dtype).removeprefix("torch.")
        signals = [name for name in _SIGNALS if getattr(self, name) is not None]
        more = f", with {', '.join(signals)}" if signals else ""
        shape = f"{list(self.features.shape)} {kind}"
        return f"VideoTokens({shape}, grid={tuple(self.grid)}{more})"
