"""DivPrune against a plain float64 transcription of greedy max-min diversity over all pairs."""

import pytest
import torch

from gleanvid.compressors.divprune import DivPrune
from gleanvid.compressors.pairwise_gain import PairwiseGain
from gleanvid.types import VideoTokens
from tests.golden.inputs import video_features
from tests.parity.checksums import clip

CASES = [
    (seed, grid, ratio)
    for seed in (0, 1, 2)
    for grid in ((6, 4, 5), (3, 3, 3), (1, 2, 2), (1, 1, 1))
    for ratio in (0.1, 0.25, 0.35, 0.9)
]


def kept(features, ratio):
    """Farthest first, from the whole matrix of distances, one token after the other."""
    rows = features.double()
    rows = rows / rows.norm(dim=1, keepdim=True)
    distance = (1.0 - rows @ rows.T).tolist()
    everyone = range(len(rows))
    chosen = []
    for _ in range(max(1, round(ratio * len(rows)))):
        against = chosen if chosen else list(everyone)
        best, widest = -1, float("-inf")
        for one in everyone:
            others = [distance[one][other] for other in against if other != one]
            gap = min(others, default=0.0)
            if one not in chosen and gap > widest:
                best, widest = one, gap
        chosen.append(best)
    return sorted(chosen)


@pytest.mark.parametrize(("seed", "grid", "ratio"), CASES)
def test_matches_transcription(seed, grid, ratio):
    features = clip(seed, grid)
    record = DivPrune(ratio, exact=False).compress(VideoTokens(features, grid))
    assert record.keep.tolist() == kept(features, ratio)


def test_no_copy_of_a_kept_token_is_kept_while_others_are_left():
    distinct = torch.randn(12, 32, generator=torch.Generator().manual_seed(0))
    tokens = VideoTokens(distinct.repeat(5, 1), (5, 3, 4))
    assert sorted((DivPrune(12 / 60).compress(tokens).keep % 12).tolist()) == list(range(12))


def test_its_tokens_lie_further_apart_than_those_of_pairwise_gain():
    features = torch.from_numpy(video_features(3, 12, 6, 6, 48)).flatten(0, 1)
    tokens = VideoTokens(features, (12, 6, 6))
    apart = {}
    for method in (DivPrune(0.15), PairwiseGain(0.15)):
        kept = torch.nn.functional.normalize(features[method.compress(tokens).keep], dim=-1)
        apart[method.name] = float((1 - kept @ kept.T).fill_diagonal_(2.0).min())
    assert apart["divprune"] > apart["pairwise_gain"]
