import math

import torch

from gleanvid.metrics import principal_components, reconstruction
from gleanvid.types import Compression

GRID = (12, 4, 4)


def every(step):
    return Compression.pruned(torch.arange(0, 192, step), GRID)


def test_reconstruction_predicts_dropped_tokens_that_repeat_the_nearest_kept_token():
    frames = torch.randn(12, 2, 8, generator=torch.Generator().manual_seed(0))
    # tokens within each half of a frame are equal
    features = frames.repeat_interleave(8, dim=1).flatten(0, 1)
    assert reconstruction(features, every(2)) > 0.95


def test_reconstruction_cannot_predict_noise_on_held_out_units():
    features = torch.randn(192, 8, generator=torch.Generator().manual_seed(1))
    assert reconstruction(features, every(2)) < 0.05


def test_reconstruction_score_without_dropped_tokens_is_nan():
    assert math.isnan(reconstruction(torch.randn(192, 8), every(1)))


def test_enough_principal_components_preserve_distances():
    features = torch.randn(40, 6, generator=torch.Generator().manual_seed(2)).double()
    described = principal_components(features, 6)
    torch.testing.assert_close(torch.cdist(described, described), torch.cdist(features, features))
    assert principal_components(features, 2).var(dim=0).sum() < described.var(dim=0).sum()
