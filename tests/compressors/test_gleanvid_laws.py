"""On clips with exactly repeated tokens, rounding hardly changes which tokens are kept."""

from __future__ import annotations

import pytest
import torch

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.gleanvid_reference import kept_tokens
from gleanvid.ops import threads
from gleanvid.types import VideoTokens
from tests.compressors.moving import GRID, WIDTH, moving_clip

RATIO = 0.2  # so kept tokens / feature width = 0.6
CASES = [(0, 200, 0.0), (1, 300, 0.0), (2, 200, 0.0), (0, 300, 0.02)]
TWINS = [(0, 200, 0.0, True), (1, 300, 0.0, True), (2, 100, 0.0, True)]


def called(case):
    return "seed{}-rank{}-noise{}".format(*case) + "-twins" * (case in TWINS)


@pytest.fixture(scope="module", params=CASES + TWINS, ids=called)
def features(request):
    return moving_clip(*request.param).features


def kept(features):
    return set(GleanVID(RATIO).compress(VideoTokens(features, GRID)).keep.tolist())


def agreement(one, other):
    return len(one & other) / len(one)


def test_gleanvid_in_float32_keeps_the_tokens_of_float64(features):
    assert agreement(kept(features), kept_tokens(features, GRID, RATIO)) >= 0.99


def test_noise_in_the_last_bits_changes_at_most_1_percent_of_kept_tokens(features):
    generator = torch.Generator().manual_seed(9)
    noise = 1 + 1e-6 * torch.randn(features.shape, generator=generator)
    assert agreement(kept(features), kept(features * noise)) >= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("case", TWINS, ids=called)
def test_number_of_threads_changes_at_most_1_percent_of_kept_tokens(case, monkeypatch):
    """Tested on clips with bit-identical tokens, where rounding matters most."""
    features = moving_clip(*case).features
    monkeypatch.setattr(threads, "_SMALL", 0)  # by default, such small clips use one thread
    before, found = torch.get_num_threads(), []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            found.append(kept(features))
    finally:
        torch.set_num_threads(before)
    assert agreement(*found) >= 0.99


def test_bfloat16_features_keep_at_least_80_percent_of_the_tokens_that_float32_keeps(features):
    assert agreement(kept(features), kept(features.bfloat16())) >= 0.8


def test_bfloat16_hardly_changes_kept_tokens_of_noise_free_clips():
    clips = [moving_clip(seed, 250, 0.0).features for seed in range(6)]
    shares = [agreement(kept(clip), kept(clip.bfloat16())) for clip in clips]
    assert sum(shares) / len(shares) >= 0.98


def test_local_score_alone_decides_once_the_basis_is_full():
    clip = moving_clip(3, 300, 0.5)
    record = GleanVID(0.9).compress(clip)
    saturated = record.trace["saturated"]
    assert float(record.trace["budget_over_width"]) > 1
    assert record.trace["basis_rank"].max() <= WIDTH
    assert saturated.any() and not saturated[0]
    local, joint, mask = (
        value.view(GRID[0], -1)[saturated]
        for value in (record.scores["lrs"], record.scores["joint"], record.mask)
    )
    assert torch.equal(local.argsort(1), joint.argsort(1))
    for row, chosen in zip(local, mask, strict=True):
        assert chosen.all() or row[chosen].min() >= row[~chosen].max()


@pytest.mark.parametrize("ratio", [0.25, 0.5, 0.9])
def test_basis_rank_never_exceeds_feature_width_or_number_of_kept_tokens(ratio):
    record = GleanVID(ratio).compress(moving_clip(4, 300, 0.0))
    assert (record.trace["basis_rank"] <= record.budgets.cumsum(0).clamp(max=WIDTH)).all()


@pytest.mark.parametrize("ratio", [0.25, 0.5, 0.9])
def test_float64_features_keep_the_same_tokens_even_with_a_full_basis(ratio):
    clip = moving_clip(0, 200, 0.0)
    half, whole = (
        GleanVID(ratio).compress(VideoTokens(features, GRID))
        for features in (clip.features, clip.features.double())
    )
    assert agreement(set(whole.keep.tolist()), set(half.keep.tolist())) >= 0.99
    assert whole.trace["basis_rank"].max() <= 201  # the clip's rank: 200, plus the shared direction


def test_equal_scores_are_resolved_in_favour_of_the_lower_index():
    record = GleanVID(0.5).compress(VideoTokens(torch.ones(24, 8), (4, 2, 3)))
    for row, budget in zip(record.mask.view(4, 6), record.budgets, strict=True):
        assert row[:budget].all() and not row[budget:].any()
