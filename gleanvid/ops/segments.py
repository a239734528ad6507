"""Cutting a video into segments where the descriptors of neighbouring frames differ.

Letters: T units, D_g width of a descriptor. A cut at t lies between units t and t + 1.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import torch

from gleanvid.ops.ranking import descending

if TYPE_CHECKING:
    from torch import Tensor


def neighbour_cosines(descriptors: Tensor) -> Tensor:
    """[T-1]: cosine of every unit's descriptor [T, D_g] to the next one's."""
    unit = torch.nn.functional.normalize(descriptors.float(), dim=-1)
    return (unit[:-1] * unit[1:]).sum(dim=-1)


def weakest(cosines: Tensor, count: int) -> Tensor:
    """bool [T-1]: the ``count`` smallest (all where there are fewer), ties to the earlier cut."""
    chosen = torch.zeros_like(cosines, dtype=torch.bool)
    chosen[descending(-cosines)[: max(0, count)]] = True
    return chosen


def spans_between(cuts: Tensor) -> list[slice]:
    """The T units as slices, split at the cuts bool [T-1]."""
    edges = [0, *(torch.nonzero(cuts).flatten() + 1).tolist(), len(cuts) + 1]
    return [slice(first, stop) for first, stop in pairwise(edges)]


def starts_of(spans: list[slice]) -> Tensor:
    """int64 [T]: the first unit of the segment each unit lies in."""
    return torch.tensor([span.start for span in spans for _ in range(span.start, span.stop)])
