"""What PairwiseGain picks first."""

import torch

from gleanvid.compressors.pairwise_gain import PairwiseGain
from gleanvid.types import VideoTokens


def test_pairwise_gain_prefers_the_odd_token_and_spreads():
    features = torch.ones(32, 8) + 0.01 * torch.randn(32, 8, generator=torch.manual_seed(0))
    features[13] = -features[13]
    keep = PairwiseGain(4 / 32).compress(VideoTokens(features, (2, 4, 4))).keep
    assert 13 in keep.tolist() and len(keep) == 4
