"""Triton kernels of the steps that a unit of GleanVID takes on little data, a launch each.

Each is one program that holds its data in registers: nothing it writes does it read again.
Letters: N tokens of a unit, k rows kept of it, q rows of a basis. Sizes in capitals are powers of
two. Not run on a GPU so far; the interpreter shows what they compute, not that they are fast.
"""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl


@triton.jit
def choose_kernel(
    local: Any,  # float64 [N]
    complement: Any,  # float32 [N]
    chosen: Any,  # out: int64 [count]
    saturated: Any,
    constant: Any,
    tied: Any,
    tokens: Any,
    count: Any,
    SIZE: tl.constexpr,
    PART: tl.constexpr,
) -> None:
    """``scoring.chosen``: a token's place is the number of tokens that come before it."""
    own = tl.arange(0, SIZE)
    inside = own < tokens
    added = tl.load(complement + own, mask=inside, other=0.0)
    high = tl.max(tl.where(inside, added, float("-inf")), axis=0)
    low = tl.min(tl.where(inside, added, float("inf")), axis=0)
    spread = tl.where((high > saturated) & (high - low > constant), high - low, float("inf"))
    wide = spread.to(tl.float64)
    score = tl.load(local + own, mask=inside, other=0.0) + added.to(tl.float64) / wide

    place = tl.zeros([SIZE], tl.int32)
    for start in range(0, tokens, PART):
        other = start + tl.arange(0, PART)
        there = other < tokens
        theirs = tl.load(complement + other, mask=there, other=0.0).to(tl.float64) / wide
        theirs = tl.load(local + other, mask=there, other=0.0) + theirs
        ahead = theirs[None, :] > score[:, None]
        level = (theirs[None, :] == score[:, None]) & (other[None, :] < own[:, None])
        place += tl.sum(((ahead | level) & there[None, :]).to(tl.int32), axis=1)
    last = tl.sum(tl.where(inside & (place == count - 1), score, 0.0), axis=0)

    score = tl.where(tl.abs(score - last) > tied, score - last, 0.0)
    place = tl.zeros([SIZE], tl.int32)
    for start in range(0, tokens, PART):
        other = start + tl.arange(0, PART)
        there = other < tokens
        theirs = tl.load(complement + other, mask=there, other=0.0).to(tl.float64) / wide
        theirs = tl.load(local + other, mask=there, other=0.0) + theirs - last
        theirs = tl.where(tl.abs(theirs) > tied, theirs, 0.0)
        ahead = theirs[None, :] > score[:, None]
        level = (theirs[None, :] == score[:, None]) & (other[None, :] < own[:, None])
        place += tl.sum(((ahead | level) & there[None, :]).to(tl.int32), axis=1)
    tl.store(chosen + place, own.to(tl.int64), mask=inside & (place < count))


@triton.jit
def struck_factor_kernel(
    gram: Any,  # float64 [k, k]
    factor: Any,  # out: float64 [k, k]
    rejected: Any,  # out: int8 [k]
    relative: Any,
    floor: Any,
    rows: Any,
    SIZE: tl.constexpr,
    STRUCK: tl.constexpr,
) -> None:
    """``orthogonal.struck_factor``: two Cholesky factorizations, column by column."""
    row, column = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    own = tl.arange(0, SIZE)
    inside = (row < rows) & (column < rows)
    at = row * rows + column
    left = tl.load(gram + at, mask=inside, other=0.0)
    distance = tl.zeros([SIZE], tl.float64)
    for step in range(rows):
        values = tl.sum(tl.where(column == step, left, 0.0), axis=1)
        root = tl.sqrt(tl.sum(tl.where(own == step, values, 0.0), axis=0))
        values = tl.where(own >= step, values / root, 0.0)
        distance = tl.where(own == step, root, distance)
        left -= values[:, None] * values[None, :]
    least = tl.maximum(relative * tl.max(distance, axis=0), floor)
    out = distance <= least
    tl.store(rejected + own, out.to(tl.int8), mask=own < rows)

    left = tl.load(gram + at, mask=inside, other=0.0)
    left = tl.where((row == column) & out[:, None], STRUCK, left)
    found = tl.zeros([SIZE, SIZE], tl.float64)
    for step in range(rows):
        values = tl.sum(tl.where(column == step, left, 0.0), axis=1)
        root = tl.sqrt(tl.sum(tl.where(own == step, values, 0.0), axis=0))
        values = tl.where(own >= step, values / root, 0.0)
        found = tl.where(column == step, values[:, None], found)
        left -= values[:, None] * values[None, :]
    tl.store(factor + at, found, mask=inside)


@triton.jit
def left_norms_kernel(
    energies: Any,  # float32 [N]
    along: Any,  # float32 [q, N], its rows ``stride`` apart
    out: Any,  # out: float32 [N]
    tokens: Any,
    rows: Any,
    stride: Any,
    SIZE: tl.constexpr,
    PART: tl.constexpr,
) -> None:
    """``evidence.left_norms``: one program for SIZE tokens."""
    own = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = own < tokens
    total = tl.zeros([SIZE], tl.float32)
    for start in range(0, rows, PART):
        row = start + tl.arange(0, PART)
        mask = (row[:, None] < rows) & inside[None, :]
        part = tl.load(along + row[:, None] * stride + own[None, :], mask=mask, other=0.0)
        total += tl.sum(part * part, axis=0)
    left = tl.load(energies + own, mask=inside, other=0.0) - total
    tl.store(out + own, tl.sqrt(tl.maximum(left, 0.0)), mask=inside)
