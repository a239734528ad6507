"""Windows of frames whose unchanging positions are averaged: what HoliTom and PruneVid share.

Letters: T units, N positions, D width, W frames of a window. ``start`` int64 [T] is the first unit
of each unit's window; ``static`` bool [T, N] marks tokens that are averaged over the window at
their position. The index of that average is the position's token in the window's first unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from gleanvid.ops.apportion import largest_remainder
from gleanvid.ops.ranking import top_indices

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class Windows:
    """A partition of the units into windows, and the static tokens in each."""

    start: Tensor  # int64 [T]
    static: Tensor  # bool [T, N]

    @property
    def firsts(self) -> list[int]:
        """First unit of every window, ascending."""
        return torch.unique(self.start).tolist()

    def span(self, first: int) -> slice:
        """The units of the window that begins at ``first``."""
        return slice(first, first + int((self.start == first).sum()))

    @property
    def repeated(self) -> Tensor:
        """bool [T, N]: static tokens after the first unit of their window."""
        units = torch.arange(len(self.start), device=self.start.device)
        return self.static & (units > self.start)[:, None]

    @property
    def homes(self) -> Tensor:
        """int64 [T, N]: flat index of each token's row after averaging, before any clustering."""
        units, per_unit = self.static.shape
        place = torch.arange(per_unit, device=self.start.device)
        own = torch.arange(units, device=self.start.device)[:, None] * per_unit + place
        return torch.where(self.static, self.start[:, None] * per_unit + place, own)

    @property
    def sizes(self) -> Tensor:
        """int64 [2, T]: number of rows after averaging, before any clustering.

        Row 0 counts the static set of the window that begins at each unit (0 for other units), row
        1 the tokens of each unit that are not static.
        """
        fresh = self.static & ~self.repeated
        return torch.stack([fresh.sum(dim=1), (~self.static).sum(dim=1)]).cpu()


def exact_counts(sizes: Tensor, total: int) -> Tensor:
    """Divide ``total`` in proportion to ``sizes`` by largest remainder: int64 like ``sizes``.

    No part is above its size; ``total`` must be at most the sum of ``sizes``.
    """
    flat = sizes.flatten()
    shared = largest_remainder(flat.double(), total, max(1, int(flat.max())))
    return torch.minimum(shared, flat).view_as(sizes)


def with_singles(windows: Windows, score: Tensor, total: int) -> tuple[Tensor, Tensor]:
    """Average static tokens, except some that become rows of their own, into ``total`` rows.

    The exceptions are the repeated tokens (:attr:`Windows.repeated`) of largest ``score`` [T, N];
    ``total`` must be at least the number of rows of ``windows``. Returns for every token the flat
    index of its row, int64 [T*N], and its weight in it [T*N].
    """
    homes = windows.homes.flatten()
    missing = total - int(windows.sizes.sum())
    ranked = score.masked_fill(~windows.repeated, float("-inf")).flatten()
    alone = top_indices(ranked, missing)
    homes[alone] = alone
    return homes, 1.0 / torch.bincount(homes, minlength=len(homes))[homes]
