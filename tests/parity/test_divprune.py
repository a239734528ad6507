import pytest

from gleanvid.compressors.divprune import DivPrune
from gleanvid.types import VideoTokens
from tests.parity.checksums import clip

CASES = [
    (seed, grid, ratio)
    for seed in (0, 1, 2)
    for grid in ((6, 4, 5), (3, 3, 3), (1, 2, 2), (1, 1, 1))
    for ratio in (0.1, 0.25, 0.35, 0.9)
]


def farthest_first(features, ratio):
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
def test_divprune_matches_a_float64_transcription(seed, grid, ratio):
    features = clip(seed, grid)
    record = DivPrune(ratio, exact=False).compress(VideoTokens(features, grid))
    assert record.keep.tolist() == farthest_first(features, ratio)
