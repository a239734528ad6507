"""GleanVID and Soft GleanVID in float32 keep the tokens of their float64 references."""

from itertools import product

import pytest
import torch

from gleanvid.compressors.gleanvid import GleanVID, reference, soft_reference
from gleanvid.compressors.gleanvid.soft import SoftGleanVID
from gleanvid.compressors.shared import threads
from gleanvid.types import VideoTokens
from tests.compressors.moving import GRID, moving_clip

Grid = tuple[int, int, int]
METHODS = [(GleanVID, reference.kept_tokens), (SoftGleanVID, soft_reference.kept_tokens)]
both_methods = pytest.mark.parametrize(("method", "kept_tokens"), METHODS, ids=["paper", "soft"])

# pairs of B / D (kept tokens) and the rank of the clip's features, both relative to their width
PAIRS = [*product([0.2, 0.6, 1.0, 1.5], [0.25, 1.0])]
SCENE = 3  # number of temporal units in a scene


def scenes(grid: Grid, width: int, rank: int, grain: float, new: float, sensor: float, seed: int):
    """Return the tokens of a synthetic clip of short scenes.

    The first unit of a scene has three strong feature directions, plus details of size ``grain``.
    Each later unit repeats the unit before it, shifted by one position; a fraction ``new`` of its
    tokens gets more details. All tokens share a large mean and have noise of size ``sensor``.
    """
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    mixing, mean = drawn(rank, width) / rank**0.5, 3 * drawn(width)
    per_unit, units = grid[1] * grid[2], list[torch.Tensor]()
    for unit in range(grid[0]):
        if unit % SCENE:
            tokens = units[-1].roll(1, 0)
            changed = torch.randperm(per_unit, generator=generator)[: round(new * per_unit + 0.49)]
            tokens[changed] += grain * drawn(len(changed), rank) @ mixing
        else:
            strong = drawn(per_unit, 3) @ drawn(3, rank) / 3**0.5
            tokens = (strong + grain * drawn(per_unit, rank)) @ mixing + mean
        units.append(tokens)
    clip = torch.cat(units)
    return clip + sensor * drawn(*clip.shape)


def kept(method, features: torch.Tensor, grid: Grid, ratio: float) -> set[int]:
    return set(method(ratio).compress(VideoTokens(features, grid)).keep.tolist())


def agreement(one: set[int], other: set[int]) -> float:
    return len(one & other) / len(one)


def noisy(features: torch.Tensor) -> torch.Tensor:
    """Return the features in float64 with relative noise of 1e-6."""
    generator = torch.Generator().manual_seed(9)
    noise = 1e-6 * torch.randn(features.shape, generator=generator, dtype=torch.float64)
    return features * (1 + noise)


SMALL = [
    ((24, 4, 4), 96, 0.03, 0.03, 0.0),
    ((24, 4, 4), 96, 0.1, 0.0, 0.002),
    ((16, 4, 4), 128, 0.01, 0.03, 0.002),
    ((16, 4, 4), 128, 0.03, 0.0, 0.0),
    ((12, 6, 6), 128, 0.1, 0.03, 0.02),
]
CASES = [(*case, *PAIRS[(2 * n + more) % 8]) for n, case in enumerate(SMALL) for more in (0, 3, 6)]
# a large case takes seconds
SLOW = [
    ((24, 8, 8), 320, 0.03, 0.03, 0.002, 0.2, 1.0),
    ((6, 27, 27), 256, 0.1, 0.03, 0.002, 0.6, 1.0),
]


@both_methods
@pytest.mark.parametrize(
    ("grid", "width", "grain", "new", "sensor", "saturation", "rank"),
    [*CASES, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)],
    ids=lambda value: "x".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_float32_keeps_the_tokens_of_float64(
    grid, width, grain, new, sensor, saturation, rank, method, kept_tokens
):
    features = scenes(grid, width, int(rank * width), grain, new, sensor, seed=0)
    ratio = saturation * width / len(features)
    expected = kept_tokens(features, grid, ratio)
    found = agreement(kept(method, features, grid, ratio), expected)
    # Below 0.99, float32 may differ as much as float64 does under relative noise of 1e-6.
    if found < 0.99:
        assert found >= agreement(kept_tokens(noisy(features), grid, ratio), expected) - 0.01, found


@both_methods
@pytest.mark.parametrize(
    ("grid", "width", "rank", "grain", "new", "seed"),
    [
        ((8, 9, 9), 128, 60, 0.03, 0.1, 63),
        ((6, 14, 14), 96, 37, 0.01, 0.0, 120),
        ((8, 9, 9), 128, 19, 0.01, 0.1, 1078),  # keeps 57 tokens: less than half of 128
        ((8, 9, 9), 128, 13, 0.03, 0.03, 1170),
    ],
)
def test_float32_agrees_with_float64_when_kept_tokens_reach_the_rank_of_the_clip(
    grid, width, rank, grain, new, seed, method, kept_tokens
):
    """A direction met in a rejected token must still count as new for a later token."""
    features = scenes(grid, width, rank, grain, new, 0.0, seed)
    ratio = 3 * rank / len(features)
    assert (
        agreement(kept(method, features, grid, ratio), kept_tokens(features, grid, ratio)) >= 0.99
    )


def still_clip_with_large_mean() -> tuple[torch.Tensor, Grid]:
    grid = (24, 6, 6)
    features = scenes(grid, 128, 128, 0.03, 0.0, 0.0, seed=3)
    return features[:36].repeat(24, 1) + 9 * features.mean(0), grid


@both_methods
@pytest.mark.parametrize("repeating", ["still", "moving"])
def test_clip_of_exact_repeats_keeps_its_tokens_under_noise_and_on_two_threads(
    repeating, method, kept_tokens, monkeypatch
):
    still = repeating == "still"
    features, grid = (
        still_clip_with_large_mean() if still else (moving_clip(1, 300, 0).features, GRID)
    )
    expected = kept_tokens(features, grid, 0.1)
    assert agreement(kept(method, features, grid, 0.1), expected) >= 0.99
    assert agreement(kept(method, noisy(features).float(), grid, 0.1), expected) >= 0.99
    monkeypatch.setattr(threads, "_SMALL", 0)
    assert agreement(kept(method, features, grid, 0.1), expected) >= 0.99
