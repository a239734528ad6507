"""Segments of a video: cut where neighbouring frames differ, or runs of frames with one label.

Letters: T units, D_g width of a descriptor. A cut at t lies between units t and t + 1.
"""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import torch

from gleanvid.ops.ranking import descending

if TYPE_CHECKING:
    from torch import Tensor

_HOLE = -1


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


def runs_of(labels: list[int]) -> list[tuple[int, int, int]]:
    """(label, start, length) of every maximal run."""
    runs, start = [], 0
    for label, group in groupby(labels):
        length = len(list(group))
        runs.append((label, start, length))
        start += length
    return runs


def contiguous_labels(labels: list[int]) -> list[int]:
    """Labels [T] with only the longest runs kept and the holes filled from their neighbours.

    A label keeps its longest run or runs, and none if it never repeats. Holes are filled left to
    right with the label of the longer neighbouring run as the sequence then stands (tie: left). If
    nothing repeats at all, one label everywhere.
    """
    longest: dict[int, int] = {}
    for label, _, length in runs_of(labels):
        longest[label] = max(longest.get(label, 0), length)
    filled = [_HOLE] * len(labels)
    for label, start, length in runs_of(labels):
        if length == longest[label] > 1:
            filled[start : start + length] = [label] * length
    if all(label == _HOLE for label in filled):
        return [0] * len(labels)
    while _HOLE in filled:
        runs = runs_of(filled)
        place = next(i for i, run in enumerate(runs) if run[0] == _HOLE)
        sides = [runs[i] for i in (place - 1, place + 1) if 0 <= i < len(runs)]
        winner = max(
            sides, key=lambda run: run[2]
        )  # max() returns the first of equals, the left one
        _, start, length = runs[place]
        filled[start : start + length] = [winner[0]] * length
    return filled
