"""Every token that FLoC chooses has the largest facility-location gain, by float64.

Chosen indices are not compared with those of a reference: two tokens that are each other's nearest
have exactly equal gains, so rounding decides between them.
"""

import math
from itertools import product

import pytest
import torch

from gleanvid.compressors import floc
from gleanvid.compressors.floc import FLoC
from gleanvid.types import VideoTokens
from tests.parity.checksums import clip

GRIDS, RATIOS = ((6, 5, 6), (4, 4, 5), (1, 3, 4), (1, 1, 1)), (0.05, 0.2, 0.5, 0.95)
CASES = [(number % 3, *case) for number, case in enumerate(product(GRIDS, RATIOS))]


def shortfall_and_objective(features, order):
    rows = features.double()
    rows = rows / rows.norm(dim=1, keepdim=True)
    cosine = rows @ rows.T
    cover, left, short = torch.full_like(cosine[0], -math.inf), torch.ones(len(rows)).bool(), 0.0
    for choice in order:
        # for each of the L tokens: the objective if it is chosen next
        sums = torch.maximum(cosine, cover).sum(dim=1)
        short = max(short, float(sums[left].max() - sums[choice]))
        cover, left[choice] = torch.maximum(cover, cosine[choice]), False
    return short, float(cover.sum())


def centred(seed, grid):
    """Return features minus their mean, so that about half of the cosines are negative."""
    features = clip(seed, grid)
    return features - features.mean(dim=0) if len(features) > 1 else features


@pytest.mark.parametrize("shift", [0.0, 4.0])
@pytest.mark.parametrize(("seed", "grid", "ratio"), CASES)
def test_every_choice_of_floc_is_a_greedy_one(seed, grid, ratio, shift, monkeypatch):
    # a small chunk size, so that there are several chunks
    monkeypatch.setattr(floc, "_CHUNK", 50)
    tokens = VideoTokens(shift + centred(seed, grid), grid)
    record = FLoC(ratio).compress(tokens)
    unit = torch.nn.functional.normalize(tokens.features, dim=-1)
    order = floc._facilities(unit, record.num_kept)[0].tolist()
    assert sorted(order) == record.keep.tolist()
    short, total = shortfall_and_objective(tokens.features, order)
    assert short < 1e-5
    assert float(record.scores["coverage"].sum()) == pytest.approx(total, rel=1e-5)
