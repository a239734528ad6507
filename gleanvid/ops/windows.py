"""Windows of frames whose unchanging positions are averaged: what HoliTom and PruneVid share.

Letters: T units, N positions, D width, W frames of a window. ``start`` int64 [T] is the first unit
of the window each unit lies in; ``static`` bool [T, N] marks tokens that stand for one average per
window and position. That average is a row at the position's token in the window's first unit.
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
    """A partition of the units and its static tokens."""

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
        """int64 [T, N]: flat index of the row every token stands in before any clustering."""
        units, per_unit = self.static.shape
        place = torch.arange(per_unit, device=self.start.device)
        own = torch.arange(units, device=self.start.device)[:, None] * per_unit + place
        return torch.where(self.static, self.start[:, None] * per_unit + place, own)

    @property
    def sizes(self) -> Tensor:
        """int64 [2, T]: rows of the static set of each window (at its first unit), of each unit."""
        fresh = self.static & ~self.repeated
        return torch.stack([fresh.sum(dim=1), (~self.static).sum(dim=1)]).cpu()


def exact_counts(sizes: Tensor, total: int) -> Tensor:
    """int64 like ``sizes``: ``total`` <= its sum, shared in proportion by largest remainder."""
    flat = sizes.flatten()
    shared = largest_remainder(flat.double(), total, max(1, int(flat.max())))
    return torch.minimum(shared, flat).view_as(sizes)


def with_singles(windows: Windows, score: Tensor, total: int) -> tuple[Tensor, Tensor]:
    """Homes and weights [T*N] of a record with ``total`` rows, at least as many as ``windows`` has.

    Nothing is clustered; the repeated tokens of largest ``score`` [T, N] leave their average and
    stand alone until the count is met. All of them alone is the identity.
    """
    homes = windows.homes.flatten()
    missing = total - int(windows.sizes.sum())
    ranked = score.masked_fill(~windows.repeated, float("-inf")).flatten()
    alone = top_indices(ranked, missing)
    homes[alone] = alone
    return homes, 1.0 / torch.bincount(homes, minlength=len(homes))[homes]
