"""On clips with exactly repeated tokens, rounding hardly changes which tokens are kept."""

from __future__ import annotations

import pytest
import torch

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.types import VideoTokens
from tests.compressors.moving import GRID, WIDTH, moving_clip

RATIO = 0.2  # so kept tokens / feature width = 0.6
CASES = [(1, 300, 0.0), (0, 300, 0.02)]
TWINS = [(2, 100, 0.0, True)]


def called(case):
    return "seed{}-rank{}-noise{}".format(*case) + "-twins" * (case in TWINS)


@pytest.fixture(scope="module", params=CASES + TWINS, ids=called)
def features(request):
    return moving_clip(*request.param).features


def kept(features):
    return set(GleanVID(RATIO).compress(VideoTokens(features, GRID)).keep.tolist())


def agreement(one, other):
    return len(one & other) / len(one)


def test_noise_in_the_last_bits_changes_at_most_1_percent_of_kept_tokens(features):
    generator = torch.Generator().manual_seed(9)
    noise = 1 + 1e-6 * torch.randn(features.shape, generator=generator)
    assert agreement(kept(features), kept(features * noise)) >= 0.99


def test_bfloat16_features_keep_at_least_80_percent_of_the_tokens_that_float32_keeps(features):
    assert agreement(kept(features), kept(features.bfloat16())) >= 0.8


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


def test_equal_scores_are_resolved_in_favour_of_the_lower_index():
    record = GleanVID(0.5).compress(VideoTokens(torch.ones(24, 8), (4, 2, 3)))
    for row, budget in zip(record.mask.view(4, 6), record.budgets, strict=True):
        assert row[:budget].all() and not row[budget:].any()
