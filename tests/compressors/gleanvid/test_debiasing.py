import pytest
import torch

from gleanvid.compressors.gleanvid.debiasing import (
    DebiasedClip,
    orthonormalised,
    remove_directions,
    top_directions,
)


def low_rank(rows, width, seed=0):
    generator = torch.Generator().manual_seed(seed)
    spread = torch.randn(rows, 6, generator=generator) * torch.tensor([9.0, 4, 3, 2, 1.5, 1])
    noise = 0.1 * torch.randn(rows, width, generator=generator)
    return spread @ torch.randn(6, width, generator=generator) + noise + 5.0


@pytest.mark.parametrize("shape", [(40, 700), (700, 40), (900, 800)])
@pytest.mark.parametrize("rank", [1, 4])
def test_removed_directions_are_the_top_singular_vectors(shape, rank):
    points = low_rank(*shape)
    mean = points.mean(0)
    found = torch.nn.functional.normalize(top_directions(points, mean, rank).double())
    truth = torch.linalg.svd((points - mean).double(), full_matrices=False).Vh[:rank]
    assert (found @ truth.T).abs().diagonal().min() > 1 - 1e-9


def test_debiased_features_have_no_component_along_removed_directions():
    points = low_rank(50, 20)
    mean = points.mean(0)
    directions = top_directions(points, mean, 2)
    debiased = remove_directions(points, mean, directions)
    along = (debiased - mean) @ directions.T
    assert along.abs().max() < 1e-3 * points.norm(dim=1).max()


def test_debiasing_linearly_dependent_features_stays_finite():
    rows = torch.randn(6, 40, generator=torch.Generator().manual_seed(0)).repeat(2, 1)
    found = orthonormalised(orthonormalised(rows))
    assert torch.linalg.vector_norm(found, dim=1).max() < 1.01
    assert torch.allclose(rows @ found[:6].T @ found[:6], rows, atol=1e-4)
    assert not orthonormalised(torch.zeros(3, 5)).any()


def clip():
    features = low_rank(60, 24)
    mean = features.mean(0)
    return features, DebiasedClip.of(
        features.view(5, 12, 24), mean, top_directions(features, mean, 2)
    )


def test_units_debiased_on_demand_equal_those_of_the_debiased_clip():
    features, debiased = clip()
    whole = remove_directions(features, debiased.mean, debiased.directions).view(5, 12, 24)
    for unit in range(5):
        assert torch.allclose(debiased.unit(unit), whole[unit], atol=1e-5)
    assert debiased.scale == pytest.approx(float(whole.norm(dim=2).max()), rel=1e-6)
    assert torch.equal(features, low_rank(60, 24))  # the input features are unchanged
