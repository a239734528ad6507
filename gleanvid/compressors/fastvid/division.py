"""FastVID's division of a segment's tokens over its units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def anchors_of(count: int, step: int) -> Tensor:
    """Return which units are anchors, bool [count]: every ``step``-th, from the last one back."""
    return torch.arange(count).flip(0) % step == 0


def dealt(salient: int, context: int, count: int, step: int) -> Tensor:
    """Divide numbers of salient and of context tokens over ``count`` units: int64 [2, count].

    Salient tokens are divided evenly over all units; the first units get the remainder. Context
    tokens are divided over every ``step``-th unit, the anchors; the last get the remainder.
    """
    anchors = anchors_of(count, step)
    place = torch.arange(count)
    number = int(anchors.sum())
    from_last = anchors.long().flip(0).cumsum(0).flip(0) - 1  # anchors after this one
    return torch.stack(
        [
            salient // count + (place < salient % count).long(),
            anchors * (context // number + (from_last < context % number).long()),
        ]
    )
