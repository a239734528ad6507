"""Segments of a video: cut where neighbouring frames differ, or runs of frames with one label.

Letters: T units, D_g width of a descriptor. A cut at t lies between units t and t + 1.
"""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import torch

from gleanvid.compressors.shared.ranking import descending

if TYPE_CHECKING:
    from torch import Tensor

_HOLE = -1


def neighbour_cosines(descriptors: Tensor) -> Tensor:
    """Return the cosine of every unit's descriptor [T, D_g] to that of the next unit, [T-1]."""
    unit = torch.nn.functional.normalize(descriptors.float(), dim=-1)
    return (unit[:-1] * unit[1:]).sum(dim=-1)


def weakest(cosines: Tensor, count: int) -> Tensor:
    """Return which of the T - 1 possible cuts have the ``count`` smallest cosines, bool [T-1].

    Of equal cosines the earlier one comes first. All are cut if there are fewer than ``count``.
    """
    chosen = torch.zeros_like(cosines, dtype=torch.bool)
    chosen[descending(-cosines)[: max(0, count)]] = True
    return chosen


def spans_between(cuts: Tensor) -> list[slice]:
    """Return the T units as slices, split at ``cuts`` bool [T-1]."""
    edges = [0, *(torch.nonzero(cuts).flatten() + 1).tolist(), len(cuts) + 1]
    return [slice(first, stop) for first, stop in pairwise(edges)]


def starts_of(spans: list[slice]) -> Tensor:
    """Return for each unit the first unit of its segment, int64 [T]. ``spans``: the segments."""
    return torch.tensor([span.start for span in spans for _ in range(span.start, span.stop)])


def runs_of(labels: list[int]) -> list[tuple[int, int, int]]:
    """Return (label, start, length) of every run of equal neighbouring labels."""
    runs, start = [], 0
    for label, group in groupby(labels):
        length = len(list(group))
        runs.append((label, start, length))
        start += length
    return runs


def contiguous_labels(labels: list[int]) -> list[int]:
    """Keep the longest runs of each label; give other units the label of a neighbouring run.

    Returns the new labels [T]. A run is a series of equal neighbouring labels. A label keeps all
    runs of its greatest length, unless this is 1. The gaps are filled from left to right, each with
    the label of the longer of its two neighbouring runs, or of the left one if they are equally
    long. If no run is longer than 1, all units get the label 0.
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
        # max() returns the first of equals, the left one
        winner = max(sides, key=lambda run: run[2])
        _, start, length = runs[place]
        filled[start : start + length] = [winner[0]] * length
    return filled
