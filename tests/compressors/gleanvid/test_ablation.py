import pytest
import torch

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.gleanvid.ablation import Ablation
from gleanvid.compressors.vcast import VCast
from tests.compressors.forms import noise

TOKENS = noise((6, 4, 5), width=32, seed=4)


def test_ablation_with_default_settings_equals_gleanvid():
    assert torch.equal(Ablation(0.3).compress(TOKENS).keep, GleanVID(0.3).compress(TOKENS).keep)


@pytest.mark.parametrize("budgeting", ["fixed", "uniform", "random", "vcast"])
def test_ablation_of_budgeting_changes_only_the_budgets(budgeting):
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
def test_ablation_of_selection_changes_only_the_selection(selection):
    made = Ablation(0.3, selection=selection).compress(TOKENS)
    whole = GleanVID(0.3).compress(TOKENS)
    assert torch.equal(made.budgets, whole.budgets)
    assert not torch.equal(made.keep, whole.keep)


def test_ablation_with_v_cast_budgeting_and_selection_equals_v_cast():
    both = Ablation(0.3, budgeting="vcast", selection="vcast").compress(TOKENS)
    assert torch.equal(both.keep, VCast(0.3).compress(TOKENS).keep)


def test_pairwise_score_is_one_minus_the_largest_cosine_to_earlier_kept_tokens():
    made = Ablation(0.3, selection="pairwise", debias_rank=0).compress(TOKENS)
    units = torch.nn.functional.normalize(TOKENS.features, dim=1)
    earlier = made.keep[made.keep < 40]
    nearest = (units[40:60] @ units[earlier].T).amax(1)
    assert torch.allclose(made.scores["scs"][40:60].float(), 1 - nearest, atol=1e-5)
