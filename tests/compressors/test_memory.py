"""No method builds an L x L matrix, and GleanVID's memory grows linearly with the clip."""

from __future__ import annotations

import weakref

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.bench.bench_compress import made_up_tokens
from gleanvid.ops import novelty
from gleanvid.types import VideoTokens
from tests.compressors.forms import AHEAD, ONE_EACH, noise

pytestmark = pytest.mark.slow


class PeakBytes(TorchDispatchMode):
    """Context that measures the peak bytes of tensors created within it."""

    def __init__(self, given: torch.Tensor) -> None:
        super().__init__()
        self.now = self.peak = self.largest = 0
        self.seen = {given.untyped_storage().data_ptr()}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(made):
            if isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided:
                self.count(tensor.untyped_storage())
        return made

    def count(self, storage: torch.UntypedStorage) -> None:
        place, size = storage.data_ptr(), storage.nbytes()
        if size and place not in self.seen:
            self.seen.add(place)
            self.now += size
            self.peak, self.largest = max(self.peak, self.now), max(self.largest, size)
            weakref.finalize(storage, self.drop, place, size)

    def drop(self, place: int, size: int) -> None:
        self.seen.discard(place)
        self.now -= size


@pytest.mark.parametrize("label", ONE_EACH)
def test_no_compressor_allocates_a_tensor_of_all_token_pairs(label):
    tokens = noise((48, 8, 8), 32)
    with PeakBytes(tokens.features) as held:
        AHEAD[label](0.5).compress(tokens)  # DyCoke refuses the default ratio 0.25
    assert held.largest < len(tokens) ** 2  # bytes of a bool matrix of all token pairs


def peak_over_features(grid, width, **settings) -> float:
    length, generator = grid[0] * grid[1] * grid[2], torch.Generator().manual_seed(0)
    tokens = VideoTokens(torch.randn(length, width, generator=generator), grid)
    with PeakBytes(tokens.features) as held:
        GleanVID(**settings).compress(tokens)
    return held.peak / tokens.features.nbytes


@pytest.fixture
def no_fixed_part(monkeypatch):
    """Use small batches of linear systems: large ones would dominate the memory of short clips."""
    monkeypatch.setattr(novelty, "_SYSTEMS", 1)


@pytest.mark.parametrize(
    "settings", [{}, {"novelty_history": 4}, {"retention_ratio": 0.5}], ids=str
)
@pytest.mark.usefixtures("no_fixed_part")
def test_memory_of_gleanvid_grows_at_most_linearly_with_clip_length(settings):
    short, long = (peak_over_features((units, 8, 8), 96, **settings) for units in (12, 48))
    assert long < 1.1 * short


@pytest.mark.usefixtures("no_fixed_part")
def test_wide_features_are_pooled_without_copying_the_clip():
    tokens = made_up_tokens((8, 14, 14), 1024, "cpu")
    with PeakBytes(tokens.features) as held:
        GleanVID().compress(tokens)
    assert held.peak < 1.5 * tokens.features.nbytes
