"""Predicting dropped tokens: nearly exact for repeats of kept ones, useless on noise."""

import math

import torch

from gleanvid.metrics import principal_components, reconstruction
from gleanvid.types import Compression

GRID = (12, 4, 4)


def every(step):
    return Compression.pruned(torch.arange(0, 192, step), GRID)


def test_dropped_tokens_that_repeat_the_nearest_row_are_guessed():
    frames = torch.randn(12, 2, 8, generator=torch.Generator().manual_seed(0))
    features = frames.repeat_interleave(8, dim=1).flatten(0, 1)  # halves of each frame are alike
    assert reconstruction(features, every(2)) > 0.95


def test_noise_cannot_be_guessed_on_units_that_were_not_fitted():
    features = torch.randn(192, 8, generator=torch.Generator().manual_seed(1))
    assert reconstruction(features, every(2)) < 0.05


def test_a_record_without_dropped_tokens_has_no_value():
    assert math.isnan(reconstruction(torch.randn(192, 8), every(1)))


def test_principal_components_keep_distances_where_there_are_enough():
    features = torch.randn(40, 6, generator=torch.Generator().manual_seed(2)).double()
    described = principal_components(features, 6)
    torch.testing.assert_close(torch.cdist(described, described), torch.cdist(features, features))
    assert principal_components(features, 2).var(dim=0).sum() < described.var(dim=0).sum()
