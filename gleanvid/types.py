"""The values that travel through the library: frozen, shape-checked, ignorant of models.

Letters used for shapes everywhere: T temporal units, N tokens per unit (rows x columns, row-major),
D feature width, L = T*N visual tokens of one video, K kept tokens, Q question tokens.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from gleanvid.errors import ModelError as ModelError
from gleanvid.errors import StoppedError as StoppedError
from gleanvid.errors import VideoError as VideoError

if TYPE_CHECKING:
    from torch import Tensor

_NAMED = ("scores", "trace", "state")  # mappings of tensors in a Compression


@dataclass(frozen=True, eq=False)
class Video:
    """What was sampled from a video file, not the file.

    ``frames`` uint8 [T, H, W, 3] RGB; ``timestamps`` float64 [T], seconds from the first frame
    shown; ``indices`` int64 [T], frame numbers in the source. ``notes`` are sentences about
    anything a person should know (read in part, fewer frames than asked for).

    >>> video = Video.from_frames(np.zeros((4, 48, 64, 3), np.uint8), fps=2.0)
    >>> len(video), video.duration
    (4, 2.0)
    """

    frames: np.ndarray
    timestamps: np.ndarray
    indices: np.ndarray
    fps: float  # average frame rate of the source
    duration: float  # seconds
    total_frames: int  # frames in the source
    source_size: tuple[int, int]  # (height, width) of the source as shown, before any resizing
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

    @classmethod
    def from_frames(cls, frames: np.ndarray, fps: float = 1.0, name: str = "video") -> Video:
        """A video from frames that are already in memory, evenly spaced at ``fps``."""
        count, height, width = frames.shape[:3]
        indices = np.arange(count)
        return cls(
            frames, indices / fps, indices, fps, count / fps, count, (height, width), name=name
        )


def _check_features(features: Any) -> None:
    if not isinstance(features, torch.Tensor):
        raise TypeError(f"features must be a torch.Tensor, got {type(features).__name__}")
    if features.is_meta:
        raise ValueError("features are on the device 'meta', which holds no numbers")
    if features.is_floating_point() and features.element_size() < 2:
        raise ValueError(f"features must be float16, bfloat16 or wider, got {features.dtype}")


@dataclass(frozen=True, eq=False)
class VideoTokens:
    """The visual tokens of one video as the language model would receive them.

    ``features`` [T*N, D]; ``grid`` = (T, rows, columns). Geometry and signals are optional:
    ``seconds`` [T, 2] first and last second of each unit, ``rectangles`` [N, 4] source pixels
    (left, top, right, bottom) of each grid position, ``saliency`` [L], ``keys`` [L, Dk],
    ``text`` [Q, D] question embeddings. A stage inside the language model sees hidden states as
    ``features`` and also ``attention`` [heads, R, L], softmax rows of the layer before it, and
    ``positions`` [L], the flat grid index of every row where only a part of the grid is left
    (None: L = T*N, all of it); ``previous`` is the record of the stage before it, whose ``state``
    it may read. Raises ``ValueError`` on shapes that do not agree and on NaN or
    infinite features.

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
        if not self.features.is_floating_point() or self.features.shape[1] == 0:
            raise ValueError("features must be floating point with at least one channel")
        for label in ("saliency", "keys"):
            signal = getattr(self, label)
            if signal is not None and len(signal) != expected:
                raise ValueError(f"{label} must have {expected} rows, got {len(signal)}")
        low, high = torch.aminmax(self.features)
        if not torch.isfinite(high - low if low.dtype == torch.float64 else high.float() - low):
            raise ValueError("features hold NaN or infinite values")

    @property
    def num_units(self) -> int:
        return self.grid[0]

    @property
    def tokens_per_unit(self) -> int:
        return self.grid[1] * self.grid[2]

    def __len__(self) -> int:
        return len(self.features)


@dataclass(frozen=True, eq=False)
class Compression:
    """The record of where every visual token went; pruning and merging are the same record.

    ``keep`` int64 [K], ascending flat indices (a merged row stands at one token's index; an index
    repeats where two rows stand there); ``group`` int64 [L], the kept *row* (0..K-1) that took each
    token in, -1 = dropped; ``weight`` [L], the token's share in that row. Where one token feeds
    several rows, ``mixing``, sparse [K, L], holds the whole map, and ``group`` names the row it
    weighs most in. ``scores`` per token [L] and ``trace`` (per unit [T], or scalars) are for
    display and diagnostics; ``state`` is what the next stage of the same method goes on from.

    >>> record = Compression.pruned(torch.tensor([0, 3, 5]), grid=(2, 2, 2))
    >>> record.num_kept, record.budgets.tolist(), record.group.tolist()
    (3, [2, 1], [0, -1, -1, 1, -1, 2, -1, -1])
    """

    keep: Tensor
    grid: tuple[int, int, int]
    group: Tensor
    weight: Tensor
    scores: Mapping[str, Tensor] = field(default_factory=dict)
    trace: Mapping[str, Tensor] = field(default_factory=dict)
    mixing: Tensor | None = None
    state: Mapping[str, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in _NAMED:
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[type[Compression], tuple[Any, ...]]:
        parts = [getattr(self, part.name) for part in fields(self)]  # read-only views stay behind
        return type(self), tuple(dict(p) if isinstance(p, Mapping) else p for p in parts)

    @classmethod
    def pruned(
        cls,
        keep: Tensor,
        grid: tuple[int, int, int],
        scores: Mapping[str, Tensor] | None = None,
        trace: Mapping[str, Tensor] | None = None,
        num_tokens: int | None = None,
    ) -> Compression:
        """The record of a method that only drops tokens: every kept token is a group of its own."""
        total = num_tokens or math.prod(grid)
        group = torch.full((total,), -1, dtype=torch.long, device=keep.device)
        group[keep] = torch.arange(len(keep), device=keep.device)
        return cls(keep, grid, group, (group >= 0).float(), scores or {}, trace or {})

    @property
    def num_tokens(self) -> int:
        return len(self.group)

    @property
    def num_kept(self) -> int:
        return len(self.keep)

    @property
    def mask(self) -> Tensor:
        """bool [L]: True where a kept row stands."""
        mask = torch.zeros(self.num_tokens, dtype=torch.bool, device=self.keep.device)
        mask[self.keep] = True
        return mask

    @property
    def budgets(self) -> Tensor:
        """int64 [T]: rows kept in each temporal unit."""
        per_unit = self.grid[1] * self.grid[2]
        return torch.bincount(self.keep // per_unit, minlength=self.grid[0])

    @property
    def merges(self) -> bool:
        """True where a kept row is anything else than the kept token itself."""
        if self.mixing is not None or int((self.group >= 0).sum()) != self.num_kept:
            return True
        return bool((self.weight[self.keep] != 1).any())

    def apply(self, rows: Tensor) -> Tensor:
        """Reduce any stream of visual rows [L, C] (features, one DeepStack level) to [K, C]."""
        if len(rows) != self.num_tokens:
            raise ValueError(f"expected {self.num_tokens} rows, got {len(rows)}")
        if not self.merges:
            return rows[self.keep.to(rows.device)]
        return (self._map().to(rows.device) @ rows.float()).to(rows.dtype)

    def _map(self) -> Tensor:
        """sparse [K, L]: what each kept row is made of."""
        if self.mixing is not None:
            return self.mixing
        taken = torch.nonzero(self.group >= 0).squeeze(1)
        places = torch.stack([self.group[taken], taken])
        size = (self.num_kept, self.num_tokens)
        values = self.weight[taken].float()
        return torch.sparse_coo_tensor(places, values, size, check_invariants=False).coalesce()

    def then(self, later: Compression) -> Compression:
        """This record followed by one that was made on its K kept rows."""
        if later.num_tokens != self.num_kept:
            raise ValueError(
                f"the later record covers {later.num_tokens} rows, not {self.num_kept}"
            )
        inner = self.group.clamp(min=0)
        group = torch.where(self.group >= 0, later.group[inner], -1)
        weight = torch.where(group >= 0, self.weight * later.weight[inner], 0.0)
        both = self.mixing is not None or later.mixing is not None
        mixing = torch.sparse.mm(later._map(), self._map()).coalesce() if both else None
        keep = self.keep[later.keep]
        parts: dict[str, Any] = {"keep": keep, "group": group, "weight": weight, "mixing": mixing}
        return replace(self, **parts, state=later.state)

    def to(self, device: torch.device | str) -> Compression:
        """The same record with every tensor on ``device``."""
        moved: dict[str, Any] = {
            name: {key: value.to(device) for key, value in getattr(self, name).items()}
            for name in _NAMED
        }
        for name in ("keep", "group", "weight", "mixing"):
            part = getattr(self, name)
            moved[name] = None if part is None else part.to(device)
        return replace(self, **moved)
