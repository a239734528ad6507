"""Each variant replaces one part and leaves the other."""

import pytest
import torch

from gleanvid.compressors.ablation import Ablation
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.vcast import VCast
from tests.compressors.forms import noise

TOKENS = noise((6, 4, 5), width=32, seed=4)


def test_the_defaults_are_gleanvid():
    assert torch.equal(Ablation(0.3).compress(TOKENS).keep, GleanVID(0.3).compress(TOKENS).keep)


@pytest.mark.parametrize("budgeting", ["fixed", "uniform", "random", "vcast"])
def test_budgeting_is_replaced_alone(budgeting):
    made = Ablation(0.3, budgeting=budgeting).compress(TOKENS)
    assert made.num_kept == 36
    if budgeting == "fixed":
        fixed = GleanVID(0.3, alpha_min=0.5, alpha_max=0.5).compress(TOKENS)
        assert torch.equal(made.keep, fixed.keep)
    if budgeting == "uniform":
        assert made.budgets.tolist() == [6] * 6
    if budgeting == "vcast":
        assert torch.equal(made.budgets, VCast(0.3).compress(TOKENS).budgets)


@pytest.mark.parametrize("selection", ["lrs", "scs", "pairwise", "vcast", "random"])
def test_selection_is_replaced_alone(selection):
    made = Ablation(0.3, selection=selection).compress(TOKENS)
    whole = GleanVID(0.3).compress(TOKENS)
    assert torch.equal(made.budgets, whole.budgets)
    assert not torch.equal(made.keep, whole.keep)


def test_both_parts_from_vcast_is_vcast():
    both = Ablation(0.3, budgeting="vcast", selection="vcast").compress(TOKENS)
    assert torch.equal(both.keep, VCast(0.3).compress(TOKENS).keep)


def test_local_scores_alone_rank_by_lrs():
    made = Ablation(0.3, selection="lrs").compress(TOKENS)
    lrs = made.scores["lrs"].view(6, -1)
    for unit, budget in enumerate(made.budgets.tolist()):
        kept = made.mask.view(6, -1)[unit]
        if 0 < budget < 20:
            assert lrs[unit][kept].min() >= lrs[unit][~kept].max()


def test_pairwise_scores_are_least_distances_to_the_kept():
    made = Ablation(0.3, selection="pairwise", debias_rank=0).compress(TOKENS)
    units = torch.nn.functional.normalize(TOKENS.features, dim=1)
    earlier = made.keep[made.keep < 40]
    nearest = (units[40:60] @ units[earlier].T).amax(1)
    assert torch.allclose(made.scores["scs"][40:60].float(), 1 - nearest, atol=1e-5)
