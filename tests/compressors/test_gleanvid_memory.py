"""The memory of GleanVID grows with the clip and no faster."""

from __future__ import annotations

import weakref

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.ops import subspace
from gleanvid.types import VideoTokens


class PeakBytes(TorchDispatchMode):
    """Most bytes at once in tensors made while open."""

    def __init__(self, given: torch.Tensor) -> None:
        super().__init__()
        self.now = self.peak = 0
        self.seen = {given.untyped_storage().data_ptr()}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(made):
            if isinstance(tensor, torch.Tensor):
                self.count(tensor.untyped_storage())
        return made

    def count(self, storage: torch.UntypedStorage) -> None:
        place, size = storage.data_ptr(), storage.nbytes()
        if size and place not in self.seen:
            self.seen.add(place)
            self.now += size
            self.peak = max(self.peak, self.now)
            weakref.finalize(storage, self.drop, place, size)

    def drop(self, place: int, size: int) -> None:
        self.seen.discard(place)
        self.now -= size


def peak_over_features(grid, width, **settings) -> float:
    length, generator = grid[0] * grid[1] * grid[2], torch.Generator().manual_seed(0)
    tokens = VideoTokens(torch.randn(length, width, generator=generator), grid)
    with PeakBytes(tokens.features) as held:
        GleanVID(**settings).compress(tokens)
    return held.peak / tokens.features.nbytes


@pytest.fixture(autouse=True)
def no_fixed_part(monkeypatch):
    """Without what short clips take for the sake of speed."""
    monkeypatch.setattr(subspace, "_SYSTEMS", 1)


@pytest.mark.parametrize("settings", [{}, {"history": 4}, {"retention_ratio": 0.5}], ids=str)
def test_memory_grows_with_the_clip_and_no_faster(settings):
    short, long = (peak_over_features((units, 8, 8), 96, **settings) for units in (12, 48))
    assert long < 1.1 * short


def test_wide_tokens_are_copied_once_and_pooled():
    assert peak_over_features((8, 14, 14), 1024) < 1.75
