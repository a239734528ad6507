"""Runs of equal labels along time: the refinement that makes a frame clustering contiguous."""

from __future__ import annotations

from itertools import groupby

HOLE = -1


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
    filled = [HOLE] * len(labels)
    for label, start, length in runs_of(labels):
        if length == longest[label] > 1:
            filled[start : start + length] = [label] * length
    if all(label == HOLE for label in filled):
        return [0] * len(labels)
    while HOLE in filled:
        runs = runs_of(filled)
        place = next(i for i, run in enumerate(runs) if run[0] == HOLE)
        sides = [runs[i] for i in (place - 1, place + 1) if 0 <= i < len(runs)]
        winner = max(sides, key=lambda run: run[2])  # the first of equals is the left one
        _, start, length = runs[place]
        filled[start : start + length] = [winner[0]] * length
    return filled
