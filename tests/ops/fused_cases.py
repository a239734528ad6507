"""What fused steps give beside the usual way, case by case: ``python -m tests.ops.fused_cases``.

Prints JSON: for every case whether all that is discrete is equal, and the largest difference of
what is not. On the CPU Triton's interpreter must be on.
"""

from __future__ import annotations

import json
import sys
from itertools import product

import torch

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.bench.count_work import count
from gleanvid.ops import fused_launches
from gleanvid.ops.evidence import left_norms
from gleanvid.ops.fused import fused_steps
from gleanvid.ops.orthogonal import struck_factor
from gleanvid.ops.scoring import chosen
from gleanvid.types import VideoTokens

SCORES = ("random", "tied", "saturated", "constant")
ROWS = ("random", "repeated", "zero", "nearly dependent")
KERNELS = ("choose_kernel", "struck_factor_kernel", "left_norms_kernel")


def scores(kind, size):
    """Local scores [N] within [0, 1] and complements [N] of at most about 1."""
    generator = torch.Generator().manual_seed(size)
    local = torch.rand(size, generator=generator, dtype=torch.float64)
    added = torch.rand(size, generator=generator)
    if kind == "tied":  # many twins, and many within the tolerance of a tie
        local = (local * 4).round() / 4 + 5e-5 * torch.rand(size, generator=generator)
        added = (added * 2).round() / 2
    elif kind == "saturated":
        added = 1e-4 * added
    elif kind == "constant":
        local, added = torch.zeros_like(local), torch.full_like(added, 0.7)
    return local, added


def gram_of(kind, size):
    """With the ridge that rows of a unit get."""
    rows = torch.randn(size, 60, generator=torch.Generator().manual_seed(size)).double()
    if kind == "repeated":
        rows = rows[torch.arange(size) // 2]
    elif kind == "zero":
        rows[:] = 0
    elif kind == "nearly dependent":
        rows[-1] = rows[0] + 3e-4 * rows[-1]
    return rows @ rows.T + torch.eye(size, dtype=torch.float64) * 3e-6**2


def both(call, values, device):
    """What a function gives the usual way and with fused steps."""
    usual = call(*(value.clone().to(device) for value in values))
    with fused_steps():
        return usual, call(*(value.clone().to(device) for value in values))


def choices(device):
    for kind, size, part in product(SCORES, (1, 12, 40), (0.01, 0.3, 1.0)):
        budget = max(1, int(part * size))
        usual, fused = both(lambda *s, k=budget: chosen(*s, 1.0, k), scores(kind, size), device)
        yield f"choice: {kind}, {budget} of {size}", torch.equal(usual, fused), 0.0


def factors(device):
    for kind, size in product(ROWS, (1, 9, 36)):
        values = (gram_of(kind, size),)
        usual, fused = both(lambda g: struck_factor(g, 1e-4, 1e-4), values, device)
        error = (usual[0] - fused[0]).abs() / usual[0].diagonal()[:, None]
        yield f"factor: {kind}, {size}", torch.equal(usual[1], fused[1]), float(error.max())


def norms(device):
    for rows, size in product((0, 1, 40), (12, 196)):
        along = torch.randn(rows + 3, size + 5, generator=torch.Generator().manual_seed(rows))
        squares = along[:rows, :size].square().sum(0)
        squares += torch.linspace(-1e-6, 1.0, size)  # some are below zero by rounding

        def call(e, a, rows=rows, size=size):
            return left_norms(e, a[:rows, :size])

        usual, fused = both(call, (squares, along), device)
        error = (usual.square() - fused.square()).abs().max()  # a root magnifies it near zero
        yield f"norms: {rows} x {size}", bool((fused >= 0).all()), float(error)


def launches(device):
    """Whole clips, and that what is counted is what is launched."""
    generator = torch.Generator().manual_seed(0)
    clip = torch.randn(4, 16, 48, generator=generator)
    clip[2] = clip[1]  # a still moment
    tokens = VideoTokens(clip.flatten(0, 1).to(device), (4, 4, 4))
    for ratio in (0.2, 0.9):
        usual, started = GleanVID(ratio).compress(tokens), []
        kernels = {name: getattr(fused_launches, name) for name in KERNELS}
        for name, kernel in kernels.items():
            setattr(fused_launches, name, _Watched(kernel, started))
        found = []
        with fused_steps():
            work = count(lambda r=ratio, f=found: f.append(GleanVID(r).compress(tokens)))
        for name, kernel in kernels.items():
            setattr(fused_launches, name, kernel)
        counted = sum(n for name, n in work.by_name.items() if name.startswith("gleanvid::"))
        same = torch.equal(usual.keep, found[0].keep) and counted == len(started) > 0
        error = (usual.scores["joint"] - found[0].scores["joint"]).abs().max()
        yield f"clip: {ratio}", same, float(error)


class _Watched:
    def __init__(self, kernel, started):
        self._kernel, self._started = kernel, started

    def __getitem__(self, grid):
        self._started.append(grid)
        return self._kernel[grid]


def cases(device):
    """Name, whether equal where discrete, and the largest difference elsewhere."""
    for part in (choices, factors, norms, launches):
        yield from part(device)


if __name__ == "__main__":
    json.dump([*cases("cpu")], sys.stdout)
