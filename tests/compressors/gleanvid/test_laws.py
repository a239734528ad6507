"""Local score, basis rank and ties of GleanVID on made-up clips."""

import pytest
import torch

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.gleanvid.soft import SoftGleanVID
from gleanvid.types import VideoTokens
from tests.compressors.moving import GRID, WIDTH, moving_clip


@pytest.mark.parametrize("method", [GleanVID, SoftGleanVID])
@pytest.mark.parametrize("clip", [(1, 300, 0.0), (0, 300, 0.02)], ids=str)
def test_bfloat16_features_keep_at_least_80_percent_of_the_tokens_that_float32_keeps(clip, method):
    features = moving_clip(*clip).features
    one, other = (
        set(method(0.2).compress(VideoTokens(rows, GRID)).keep.tolist())
        for rows in (features, features.bfloat16())
    )
    assert len(one & other) >= 0.8 * len(one)


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


@pytest.mark.parametrize("method", [GleanVID, SoftGleanVID])
def test_equal_scores_are_resolved_in_favour_of_the_lower_index(method):
    record = method(0.5).compress(VideoTokens(torch.ones(24, 8), (4, 2, 3)))
    for row, budget in zip(record.mask.view(4, 6), record.budgets, strict=True):
        assert row[:budget].all() and not row[budget:].any()
