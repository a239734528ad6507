import numpy as np
import pytest
import torch

from components.viewer.features import clip_features, effective_ranks, new_energies, ranks_so_far
from gleanvid import COMPRESSORS, metrics
from gleanvid.types import VideoTokens


def tokens_of(units: int = 6, side: int = 6, width: int = 48, rank: int = 16) -> VideoTokens:
    noise = torch.Generator().manual_seed(3)
    total = units * side * side
    low = torch.randn(total, rank, generator=noise) @ torch.randn(rank, width, generator=noise)
    shared = 20 * torch.randn(width, generator=noise)
    weak = 0.05 * torch.randn(total, width, generator=noise)
    return VideoTokens(low + shared + weak, (units, side, side))


@pytest.mark.parametrize("name", ["gleanvid", "uniform", "prunevid"])
def test_ranks_and_energies_sent_to_the_viewer_equal_those_of_the_library(name):
    tokens = tokens_of()
    record = COMPRESSORS[name](retention_ratio=0.3).compress(tokens)
    features = metrics.debiased(tokens.features)
    true = metrics.effective_rank_by_unit(features, record)
    assert effective_ranks(tokens, record) == pytest.approx(true.tolist(), rel=1e-3, abs=1e-3)
    new = metrics.residual_energy_by_unit(features, record)
    assert new_energies(tokens, record) == pytest.approx(new.tolist(), rel=1e-3, abs=1e-5)


def test_novelty_of_the_viewer_equals_that_of_gleanvid():
    tokens = tokens_of()
    trace = COMPRESSORS["gleanvid"]().compress(tokens).trace
    assert np.allclose(clip_features(tokens).novelty, trace["novelty"], rtol=1e-4)


@pytest.mark.parametrize("name", ["gleanvid", "prunevid", "full"])
def test_effective_rank_at_a_unit_is_that_of_all_tokens_kept_up_to_the_unit(name):
    tokens = tokens_of()  # features no wider than PROJECTED are measured exactly
    record = COMPRESSORS[name]().compress(tokens)
    rows = record.apply(metrics.debiased(tokens.features))
    ends = record.budgets.cumsum(0).tolist()
    true = [metrics.effective_rank(rows[:end]) for end in ends]
    assert ranks_so_far(tokens, record) == pytest.approx(true, rel=1e-3)
