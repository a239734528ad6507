"""Soft GleanVID: its complementarity, its limit and its budgets."""

import pytest
import torch

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.gleanvid.debiasing import DebiasedClip
from gleanvid.compressors.gleanvid.soft import SoftEvidence, SoftGleanVID
from tests.compressors.gleanvid.test_residuals import noise, repeats
from tests.compressors.moving import moving_clip


@pytest.mark.parametrize(
    ("made", "width", "budgets"),
    [
        (noise, 96, [9, 4, 0, 2, 8, 3, 5, 7]),
        (noise, 8, [9, 8, 0, 6, 5, 6, 7, 8]),  # more than twice as many kept tokens as dimensions
        (repeats, 40, [12] * 12),  # four directions only in the first half
    ],
)
@pytest.mark.parametrize("level", [0.01, 1.0])
def test_complementarity_is_the_deviation_of_a_linear_model_with_noise(made, width, budgets, level):
    features = made(len(budgets), width)
    clip = DebiasedClip.of(features, features.mean((0, 1)), features.new_zeros(0, width))
    evidence, kept = SoftEvidence(clip, budgets, level), torch.zeros(0, width).double()
    variance = level * features.double().square().sum(-1).mean()
    for unit, budget in enumerate(budgets):
        tokens = features[unit].double()
        inverse = (torch.eye(width) + kept.T @ kept / variance).inverse()
        expected = (tokens @ inverse * tokens).sum(1).sqrt()
        error = (evidence.complement(unit) - expected).abs().max()
        assert error < 1e-5 * clip.scale, unit
        if budget:
            evidence.absorb(torch.arange(budget))
            kept = torch.cat([kept, tokens[:budget]])


def test_token_seen_before_stays_worth_something_where_gleanvid_is_saturated():
    clip = moving_clip(3, 300, 0.5)
    assert GleanVID(0.9).compress(clip).trace["saturated"].any()
    record = SoftGleanVID(0.9).compress(clip)
    assert record.scores["scs"].min() > 0 and set(record.trace).isdisjoint(
        {"saturated", "basis_rank"}
    )


def test_first_unit_gets_the_paper_s_budget_or_a_smaller_one_without_the_clip_s_mean():
    clip = moving_clip(0, 300, 0.0)
    paper = GleanVID(0.2).compress(clip).budgets
    assert torch.equal(SoftGleanVID(0.2, first_unit="norm").compress(clip).budgets, paper)
    assert SoftGleanVID(0.2).compress(clip).budgets[0] < paper[0]
