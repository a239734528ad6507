"""Debiased tokens without a debiased copy."""

import pytest
import torch

from gleanvid.ops.evidence import DebiasedClip, SubspaceEvidence
from gleanvid.ops.subspace import remove_directions, top_directions
from tests.ops.test_subspace import low_rank


def clip():
    features = low_rank(60, 24)
    mean = features.mean(0)
    return features, DebiasedClip.of(
        features.view(5, 12, 24), mean, top_directions(features, mean, 2)
    )


def test_units_are_those_of_the_debiased_copy():
    features, debiased = clip()
    whole = remove_directions(features, debiased.mean, debiased.directions).view(5, 12, 24)
    for unit in range(5):
        assert torch.allclose(debiased.unit(unit), whole[unit], atol=1e-5)
    assert debiased.scale == pytest.approx(float(whole.norm(dim=2).max()), rel=1e-6)
    assert torch.equal(features, low_rank(60, 24))  # not written into


def test_ranks_count_the_directions_of_every_unit_also_one_without_budget():
    _, debiased = clip()
    evidence = SubspaceEvidence(debiased, [3, 0, 2], 1e-4)
    for unit, chosen in ((0, [0, 1, 2]), (1, []), (2, [4, 5])):
        assert evidence.complement(unit).shape == (12,)
        if chosen:
            evidence.absorb(torch.tensor(chosen))
    assert evidence.ranks([3, 0, 2]).tolist() == [3, 3, 5]
