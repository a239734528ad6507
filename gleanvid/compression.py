"""The compression record: which visual tokens were kept, merged or dropped.

``gleanvid.types`` defines the letters T, N, L and K of the shapes.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import torch

from gleanvid.devices import moved, without_autocast
from gleanvid.errors import refusing

if TYPE_CHECKING:
    from torch import Tensor

_NAMED = ("scores", "trace", "state")  # fields of Compression that map names to tensors


def _on_cpu(value: Tensor) -> Tensor:
    return (value.float() if value.dtype == torch.bfloat16 else value).detach().cpu()


@dataclass(frozen=True, eq=False)
class Compression:
    """The compression record: where every visual token of a video went.

    L tokens become K output tokens. An output token is either a kept token, unchanged, or a
    weighted sum of merged tokens. Both kinds of methods use the same fields.

    Args:
        keep: int64 [K], ascending: index of each output token, for a merged one that of one of its
            tokens. Two output tokens may share an index.
        grid: (T, rows, columns) of the tokens before compression.
        group: int64 [L], the output token (0 to K - 1) that contains each token; -1: dropped.
        weight: Float [L], the weight of each token in that output token.
        scores: Name -> [L], values that the method computed for each token, for display.
        trace: Name -> [T] or scalar, values for each temporal unit or for the clip, for display.
        mixing: Sparse [K, L], the weight of every token in every output token; ``group`` then names
            the one of most weight. None if no token is part of several output tokens.
        state: Name -> tensor that the method's next stage needs. "order", int64 [K]: the kept
            tokens in picking order, if they are picked one by one.

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
        # MappingProxyType cannot be pickled.
        parts = [getattr(self, part.name) for part in fields(self)]
        return type(self), tuple(dict(p) if isinstance(p, Mapping) else p for p in parts)

    def __repr__(self) -> str:
        merged = ", merged" if self.merges else ""
        counts = f"{self.num_kept} of {self.num_tokens} tokens kept{merged}"
        return f"Compression({counts}, grid={tuple(self.grid)})"

    @classmethod
    def pruned(
        cls,
        keep: Tensor,
        grid: tuple[int, int, int],
        scores: Mapping[str, Tensor] | None = None,
        trace: Mapping[str, Tensor] | None = None,
        num_tokens: int | None = None,
    ) -> Compression:
        """Return the record of a method that only drops tokens.

        Args:
            keep: int64 [K], ascending flat indices of the kept tokens.
            grid: (T, rows, columns) of the tokens before compression.
            scores: As in :class:`Compression`.
            trace: As in :class:`Compression`.
            num_tokens: L, if it is not the size of the grid.
        """
        total = num_tokens or math.prod(grid)
        group = torch.full((total,), -1, dtype=torch.long, device=keep.device)
        group[keep] = torch.arange(len(keep), device=keep.device)
        return cls(keep, grid, group, (group >= 0).float(), scores or {}, trace or {})

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray], grid: Sequence[int]) -> Compression:
        """Build a record from what :meth:`arrays` returns and its grid (T, rows, columns)."""
        own = {name: torch.from_numpy(value) for name, value in arrays.items()}

        def part(kind: str) -> dict[str, Tensor]:
            before = f"{kind}/"
            return {n.removeprefix(before): v for n, v in own.items() if n.startswith(before)}

        mixing = None
        if "mixing/places" in own:
            size = (len(own["keep"]), len(own["group"]))
            mixing = torch.sparse_coo_tensor(
                own["mixing/places"], own["mixing/values"], size, check_invariants=True
            ).coalesce()
        units, rows, columns = (int(side) for side in grid)
        kept = own["keep"], (units, rows, columns), own["group"], own["weight"]
        return cls(*kept, part("scores"), part("trace"), mixing, part("state"))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all fields but the grid as NumPy arrays, such as "keep" and "scores/NAME"."""
        tensors = {name: getattr(self, name) for name in ("keep", "group", "weight")}
        for part in _NAMED:
            tensors |= {f"{part}/{name}": value for name, value in getattr(self, part).items()}
        if self.mixing is not None:
            sparse = self.mixing.coalesce()
            tensors |= {"mixing/places": sparse.indices(), "mixing/values": sparse.values()}
        return {name: _on_cpu(value).numpy() for name, value in tensors.items()}

    def save(self, path: str | Path) -> Path:
        """Write the record to an NPZ file, :meth:`arrays` and "grid"; return its path."""
        with Path(path).open("wb") as file:  # to the name as it is: savez would add an ending
            np.savez_compressed(file, grid=np.array(self.grid), **self.arrays())  # type: ignore[arg-type]
        return Path(path)

    @classmethod
    def load(cls, path: str | Path) -> Compression:
        """Load a record that :meth:`save` wrote. Raises ``ValueError`` for any other file."""
        text, damaged = f"{path} is not a saved compression record", (EOFError, BadZipFile)
        with refusing(ValueError, text, OSError, zlib.error, *damaged, because=True):
            arrays = dict(np.load(path, allow_pickle=False))
            return cls.of(arrays, arrays.pop("grid"))

    @property
    def num_tokens(self) -> int:
        """L: number of tokens before compression. T * N unless an earlier stage dropped some."""
        return len(self.group)

    @property
    def num_kept(self) -> int:
        """K: number of output tokens, kept or merged."""
        return len(self.keep)

    @property
    def mask(self) -> Tensor:
        """bool [L]: True at the indices of the output tokens (see ``keep``)."""
        mask = torch.zeros(self.num_tokens, dtype=torch.bool, device=self.keep.device)
        mask[self.keep] = True
        return mask

    @property
    def budgets(self) -> Tensor:
        """int64 [T]: number of output tokens in each temporal unit."""
        per_unit = self.grid[1] * self.grid[2]
        return torch.bincount(self.keep // per_unit, minlength=self.grid[0])

    @cached_property
    def merges(self) -> bool:
        """True if any output token is a weighted sum and not an unchanged token."""
        if self.mixing is not None or int((self.group >= 0).sum()) != self.num_kept:
            return True
        return bool((self.weight[self.keep] != 1).any())

    def apply(self, rows: Tensor) -> Tensor:
        """Compute the features of the K output tokens from those of the L tokens.

        Args:
            rows: [L, C], the features (or a DeepStack level) of each token before compression.

        Returns:
            [K, C], of the same dtype and device. Merged tokens are weighted sums.

        Raises:
            ValueError: The number of rows is not L.
        """
        if len(rows) != self.num_tokens:
            raise ValueError(f"expected {self.num_tokens} rows, got {len(rows)}")
        if not self.merges:
            return rows[self.keep.to(rows.device)]
        with without_autocast():
            return (self._map().to(rows.device) @ rows.float()).to(rows.dtype)

    def _map(self) -> Tensor:
        """sparse [K, L]: weight of every token in every output token."""
        if self.mixing is not None:
            return self.mixing
        taken = torch.nonzero(self.group >= 0).squeeze(1)
        places = torch.stack([self.group[taken], taken])
        size = (self.num_kept, self.num_tokens)
        values = self.weight[taken].float()
        sparse = torch.sparse_coo_tensor(
            places, values, size, device=values.device, check_invariants=False
        )
        return sparse.coalesce()

    def then(self, later: Compression) -> Compression:
        """Return this record combined with a later one, which compressed its K output tokens.

        Raises ``ValueError`` if the later record is of another number of tokens.
        """
        if later.num_tokens != self.num_kept:
            raise ValueError(
                f"the later record covers {later.num_tokens} rows, not {self.num_kept}"
            )
        inner = self.group.clamp(min=0)
        group = torch.where(self.group >= 0, later.group[inner], -1)
        weight = torch.where(group >= 0, self.weight * later.weight[inner], 0.0)
        both = self.mixing is not None or later.mixing is not None
        with without_autocast():
            mixing = torch.sparse.mm(later._map(), self._map()).coalesce() if both else None
        keep = self.keep[later.keep]
        parts: dict[str, Any] = {"keep": keep, "group": group, "weight": weight, "mixing": mixing}
        return replace(self, **parts, state=later.state)

    def to(self, device: torch.device | str) -> Compression:
        """Return this record on ``device``; float64 becomes float32 where there is no float64."""
        parts: dict[str, Any] = {
            name: {key: moved(value, device) for key, value in getattr(self, name).items()}
            for name in _NAMED
        }
        for name in ("keep", "group", "weight", "mixing"):
            part = getattr(self, name)
            parts[name] = None if part is None else moved(part, device)
        return replace(self, **parts)
