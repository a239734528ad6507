"""Small clips whose metrics are known by hand."""

import torch

from gleanvid.types import Compression


def record(keep, grid=(2, 1, 2), **more):
    return Compression.pruned(torch.tensor(keep), grid, **more)


def axes(*numbers, width=4):
    """Return one unit vector for each number, along the coordinate axis of that number."""
    return torch.eye(width)[list(numbers)]


def rotation(width, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.linalg.qr(torch.randn(width, width, generator=generator)).Q


def clip(units=6, rows=4, columns=5, width=24, seed=0):
    """Return random tokens [T*N, D] and a record that keeps about 30 % of them, none in unit 1."""
    generator = torch.Generator().manual_seed(seed)
    count = units * rows * columns
    features = torch.randn(count, width, generator=generator) + 0.5
    kept = torch.rand(count, generator=generator) < 0.3
    kept[rows * columns : 2 * rows * columns] = False
    return features, record(torch.nonzero(kept).squeeze(1).tolist(), (units, rows, columns))
