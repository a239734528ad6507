"""No method builds an L x L matrix, and GleanVID's memory grows linearly with the clip."""

import pytest
import torch

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.gleanvid import budget as novelty
from gleanvid.evaluation.bench.bench_compress import made_up_tokens
from gleanvid.types import VideoTokens
from tests.compressors.forms import AHEAD, ONE_EACH, noise
from tests.models.live import LiveBytes

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("label", ONE_EACH)
def test_no_compressor_allocates_a_tensor_of_all_token_pairs(label):
    tokens = noise((48, 8, 8), 32)
    with LiveBytes([tokens.features]) as held:
        AHEAD[label](0.5).compress(tokens)  # DyCoke refuses the default ratio 0.25
    assert held.largest < len(tokens) ** 2  # bytes of a bool matrix of all token pairs


def peak_over_features(grid, width, **settings) -> float:
    length, generator = grid[0] * grid[1] * grid[2], torch.Generator().manual_seed(0)
    tokens = VideoTokens(torch.randn(length, width, generator=generator), grid)
    with LiveBytes([tokens.features]) as held:
        GleanVID(**settings).compress(tokens)
    return held.peak / tokens.features.nbytes


@pytest.fixture
def no_fixed_part(monkeypatch):
    """Use small batches of linear systems: large ones would dominate the memory of short clips."""
    monkeypatch.setattr(novelty, "_SYSTEMS", 1)


@pytest.mark.parametrize(
    "settings", [{}, {"novelty_history": 4}, {"retention_ratio": 0.5}], ids=str
)
@pytest.mark.usefixtures("no_fixed_part")
def test_memory_of_gleanvid_grows_at_most_linearly_with_clip_length(settings):
    short, long = (peak_over_features((units, 8, 8), 96, **settings) for units in (12, 48))
    assert long < 1.1 * short


@pytest.mark.usefixtures("no_fixed_part")
def test_wide_features_are_pooled_without_copying_the_clip():
    tokens = made_up_tokens((8, 14, 14), 1024, "cpu")
    with LiveBytes([tokens.features]) as held:
        GleanVID().compress(tokens)
    assert held.peak < 1.5 * tokens.features.nbytes
