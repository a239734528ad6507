"""Windows of frames in which HoliTom and PruneVid average the positions that do not change.

A static token does not change over its window: it is averaged with the tokens of the window at the
same position. The average has the index of the token at this position in the window's first unit.

Letters: T units, N positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from gleanvid.compressors.shared.apportion import largest_remainder
from gleanvid.compressors.shared.ranking import top_indices

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class Windows:
    """A partition of the units into windows, and the static tokens in each."""

    start: Tensor  # int64 [T]: first unit of the window of each unit
    static: Tensor  # bool [T, N]: which tokens are static

    @property
    def firsts(self) -> list[int]:
        """First unit of every window, ascending."""
        return torch.unique(self.start).tolist()

    def span(self, first: int) -> slice:
        """The units of the window that begins at ``first``."""
        return slice(first, first + int((self.start == first).sum()))

    @property
    def repeated(self) -> Tensor:
        """Which tokens are static and not in the first unit of their window, bool [T, N]."""
        units = torch.arange(len(self.start), device=self.start.device)
        return self.static & (units > self.start)[:, None]

    @property
    def homes(self) -> Tensor:
        """Flat index of the token into which each token is averaged, int64 [T, N].

        It is the token's own index if it is not static.
        """
        units, per_unit = self.static.shape
        place = torch.arange(per_unit, device=self.start.device)
        own = torch.arange(units, device=self.start.device)[:, None] * per_unit + place
        return torch.where(self.static, self.start[:, None] * per_unit + place, own)

    @property
    def sizes(self) -> Tensor:
        """Number of tokens that averaging leaves, int64 [2, T] on the CPU.

        Row 0 is for static tokens: the entry of a window's first unit is the number of averages of
        the window, and all other entries are 0. Row 1 is the number of other tokens of each unit.
        """
        fresh = self.static & ~self.repeated
        return torch.stack([fresh.sum(dim=1), (~self.static).sum(dim=1)]).cpu()


def exact_counts(sizes: Tensor, total: int) -> Tensor:
    """Divide ``total`` in proportion to ``sizes`` by largest remainder; return int64 parts.

    The result has the shape of ``sizes``, and no part is larger than its size. ``total`` must be at
    most the sum of ``sizes``.
    """
    flat = sizes.flatten()
    shared = largest_remainder(flat.double(), total, max(1, int(flat.max())))
    return torch.minimum(shared, flat).view_as(sizes)


def with_singles(windows: Windows, score: Tensor, total: int) -> tuple[Tensor, Tensor]:
    """Average static tokens, but keep some of them unmerged, so that ``total`` tokens are left.

    The static tokens kept are those of largest ``score`` [T, N] that are not in the first unit of
    their window. ``total`` must be at least the number that averaging alone leaves. Returns for
    every token the flat index of the token into which it is averaged, int64 [T*N], and its weight
    there [T*N].
    """
    homes = windows.homes.flatten()
    missing = total - int(windows.sizes.sum())
    ranked = score.masked_fill(~windows.repeated, float("-inf")).flatten()
    alone = top_indices(ranked, missing)
    homes[alone] = alone
    return homes, 1.0 / torch.bincount(homes, minlength=len(homes))[homes]
