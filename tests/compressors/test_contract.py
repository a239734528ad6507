"""Laws that every method ahead of the language model obeys, over random videos and ratios."""

from contextlib import nullcontext
from dataclasses import replace

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gleanvid.compressors import COMPRESSORS
from gleanvid.compressors.dycoke import DyCoke
from gleanvid.compressors.evs import EVS
from gleanvid.types import VideoTokens
from tests.compressors.rivals import below_floor

INSIDE = ("fastv", "sparsevlm", "framefusion")  # need attention rows: test_rivals_inside.py
AHEAD = [method for name, method in COMPRESSORS.items() if name not in ("full", *INSIDE)]
GRIDS = st.tuples(st.integers(1, 6), st.integers(1, 7), st.integers(1, 7))
RATIOS = st.floats(0.01, 1.0)


def video(grid, width=24, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    count = grid[0] * grid[1] * grid[2]
    features = torch.randn(count, width, generator=generator).to(dtype)
    saliency = torch.rand(count, generator=generator)
    keys = torch.randn(count, 8, generator=generator)
    return VideoTokens(features, grid, saliency=saliency, keys=keys)


@pytest.mark.parametrize("method", AHEAD)
@settings(max_examples=25, deadline=None)
@given(grid=GRIDS, ratio=RATIOS, seed=st.integers(0, 9))
def test_budget_is_met_with_ascending_indices_in_range(method, grid, ratio, seed):
    tokens = video(grid, seed=seed)
    before, compressor = tokens.features.clone(), method(retention_ratio=ratio)
    assume(not below_floor(compressor, grid))
    compression = compressor.compress(tokens)
    assert compression.num_kept == compressor.budget(tokens) == int(compression.budgets.sum())
    assert (compression.keep.diff() >= int(not compression.merges)).all()  # merged rows may share
    assert compression.keep.min() >= 0 and compression.keep.max() < len(tokens)
    assert torch.equal(compression.keep, compressor.compress(tokens).keep)
    assert torch.equal(tokens.features, before)


@pytest.mark.parametrize("method", [DyCoke, EVS])
@given(grid=GRIDS, ratio=RATIOS)
def test_a_ratio_below_the_units_kept_whole_is_refused_and_no_other(method, grid, ratio):
    compressor = method(ratio)
    refusal = pytest.raises(ValueError, match=f"out of reach for {method.title}")
    with refusal if below_floor(compressor, grid) else nullcontext():
        compressor.compress(video(grid))


@pytest.mark.parametrize("method", AHEAD)
@pytest.mark.parametrize("grid", [(1, 1, 1), (1, 5, 3), (4, 1, 1), (2, 3, 3)])
def test_ratio_one_is_the_identity(method, grid):
    tokens = video(grid)
    compression = method(retention_ratio=1.0).compress(tokens)
    assert torch.equal(compression.apply(tokens.features), tokens.features)
    assert not compression.merges


@pytest.mark.parametrize("method", AHEAD)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_input_selects_as_its_float32_copy_does(method, dtype):
    half = video((5, 4, 4), dtype=dtype)
    copy = replace(half, features=half.features.float())
    assert torch.equal(method(0.6).compress(half).keep, method(0.6).compress(copy).keep)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_features_that_are_not_finite_are_refused(bad, dtype):
    features = torch.zeros(8, 4, dtype=dtype)
    features[5, 2] = bad
    with pytest.raises(ValueError, match="NaN or infinite"):
        VideoTokens(features, (2, 2, 2))


def test_full_tokens_keeps_all_and_accepts_no_other_ratio():
    tokens = video((2, 2, 2))
    assert COMPRESSORS["full"]().compress(tokens).num_kept == 8
    with pytest.raises(ValueError, match=r"retention_ratio=0\.5"):
        COMPRESSORS["full"](retention_ratio=0.5)
