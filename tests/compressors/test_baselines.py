from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gleanvid.compressors.gleanvid.ablation import Ablation
from gleanvid.compressors.random import Random
from gleanvid.compressors.uniform import Uniform
from tests.compressors.forms import noise


def kept(grid, ratio):
    """Return the kept tokens, bool [T, rows, columns], after checking that they meet the budget."""
    tokens = noise(grid, width=1)
    record = Uniform(ratio).compress(tokens)
    assert record.num_kept == Uniform(ratio).budget(tokens) == len(set(record.keep.tolist()))
    return record.mask.view(grid)


def spread(counts):
    return int((counts.amax(-1) - counts.amin(-1)).max())


def favours_nothing(mask):
    over_clip = [mask.sum(dims) for dims in ((1, 2), (0, 2), (0, 1))]
    assert max(map(spread, over_clip)) <= 1
    # in each temporal unit, tokens per grid row differ by at most 1, per grid column by at most 2
    assert spread(mask.sum(2)) <= 1 and spread(mask.sum(1)) <= 2


@settings(max_examples=100)
@given(
    grid=st.tuples(st.integers(1, 9), st.integers(1, 24), st.integers(1, 24)),
    ratio=st.floats(0.001, 1.0),
)
def test_uniform_selection_favours_no_unit_row_or_column_on_any_grid(grid, ratio):
    favours_nothing(kept(grid, ratio))


DRAWS = [Random(0.2), Ablation(0.2, selection="random"), Ablation(0.2, budgeting="random")]


@pytest.mark.parametrize("method", DRAWS)
def test_random_selection_differs_for_every_clip_and_seed(method):
    tokens = noise((6, 5, 5))
    keep = method.compress(tokens).keep.tolist()
    assert keep == method.compress(replace(tokens, features=tokens.features.clone())).keep.tolist()
    assert keep != replace(method, seed=1).compress(tokens).keep.tolist()
    assert keep != method.compress(noise((6, 5, 5), seed=1)).keep.tolist()
    assert method.is_random and not Ablation().is_random
