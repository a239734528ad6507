import math

import pytest
import torch

from gleanvid.compressors.evs import EVS
from gleanvid.types import VideoTokens
from tests.parity.checksums import clip

CASES = [
    (seed, grid, ratio)
    for seed in (0, 1)
    for grid in ((8, 4, 5), (5, 3, 3), (1, 4, 4), (2, 2, 3))
    for ratio in (0.05, 0.25, 0.3, 0.5, 0.9, 1.0)
]


def kept_by_vllm(features, grid, ratio):
    """Return the tokens that vLLM's EVS keeps: the first unit, then the most changed tokens.

    The change of a token is measured from the token at the same position of the unit before.
    """
    units, per_unit = grid[0], grid[1] * grid[2]
    rows = features.double().reshape(units, per_unit, -1)
    ranked = []
    for unit in range(1, units):
        for place in range(per_unit):
            a, b = rows[unit, place], rows[unit - 1, place]
            cosine = float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))
            ranked.append((cosine - 1.0, unit * per_unit + place))
    count = max(per_unit, int(units * per_unit * (1 - (1 - ratio))))
    chosen = list(range(per_unit)) + [index for _, index in sorted(ranked)]
    return sorted(chosen[:count])


@pytest.mark.parametrize(("seed", "grid", "ratio"), CASES)
def test_evs_matches_a_float64_transcription(seed, grid, ratio):
    features = clip(seed, grid)
    record = EVS(ratio, exact=False).compress(VideoTokens(features, grid))
    assert record.keep.tolist() == kept_by_vllm(features, grid, ratio)


def test_exact_and_authors_modes_of_evs_agree_at_equal_counts():
    features = clip(4, (8, 4, 5))
    tokens = VideoTokens(features, (8, 4, 5))
    assert torch.equal(EVS(0.5).compress(tokens).keep, EVS(0.5, False).compress(tokens).keep)
