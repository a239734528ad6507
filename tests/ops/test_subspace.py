"""Directions, residuals and bases against dense float64 linear algebra."""

import pytest
import torch

from gleanvid.ops import subspace
from gleanvid.ops.subspace import (
    ResidualBasis,
    history_residuals,
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
def test_directions_are_the_singular_vectors(shape, rank):
    points = low_rank(*shape)
    mean = points.mean(0)
    found = torch.nn.functional.normalize(top_directions(points, mean, rank).double())
    truth = torch.linalg.svd((points - mean).double(), full_matrices=False).Vh[:rank]
    assert (found @ truth.T).abs().diagonal().min() > 1 - 1e-9


def test_debiased_rows_have_the_mean_s_component_only():
    points = low_rank(50, 20)
    mean = points.mean(0)
    directions = top_directions(points, mean, 2)
    debiased = remove_directions(points, mean, directions)
    along = (debiased - mean) @ directions.T
    assert along.abs().max() < 1e-3 * points.norm(dim=1).max()


@pytest.mark.parametrize("history", [None, 1, 3])
def test_history_residuals_are_regularised_projections(history):
    generator = torch.Generator().manual_seed(2)
    prototypes = torch.randn(7, 3, 10, generator=generator)
    found = history_residuals(prototypes, history, 1e-4)
    z = prototypes.double()
    for unit in range(1, 7):
        past = z[max(0, unit - (history or unit)) : unit]
        for cell in range(3):
            held = past[:, cell]
            gram = held @ held.T
            gram += 1e-4 * gram.diagonal().mean() * torch.eye(len(gram))
            b = held @ z[unit, cell]
            expected = (z[unit, cell] @ z[unit, cell] - b @ torch.linalg.solve(gram, b)).sqrt()
            assert float(found[unit, cell]) == pytest.approx(float(expected), rel=1e-5)
    assert torch.allclose(found[0], z[0].norm(dim=1))


@pytest.mark.parametrize("history", [None, 1, 3])
def test_history_residuals_do_not_depend_on_how_many_are_solved_at_once(history, monkeypatch):
    prototypes = torch.randn(9, 4, 6, generator=torch.Generator().manual_seed(3))
    whole = history_residuals(prototypes, history, 1e-4)
    monkeypatch.setattr(subspace, "_SYSTEMS", 1)
    torch.testing.assert_close(history_residuals(prototypes, history, 1e-4), whole)


def test_the_basis_stays_orthonormal_and_energies_are_true_residuals():
    points = low_rank(60, 24).contiguous()
    basis = ResidualBasis(points, 40, 1e-4, 1e-5)
    for first in range(0, 40, 10):
        basis.absorb(torch.arange(first, first + 10), first + 10)
    q = torch.linalg.qr(points[:40].double().T).Q
    truth = (points.double() - points.double() @ q @ q.T).norm(dim=1)[40:]
    assert int(basis.rank) == 24
    assert (basis.energy[40:].sqrt() - truth).abs().max() < 1e-3 * basis.scale


def test_a_basis_of_all_directions_leaves_nothing_unexplained():
    """More points than directions: those that add nothing take no room."""
    points = torch.randn(60, 8, generator=torch.Generator().manual_seed(4))
    basis = ResidualBasis(points, 40, 1e-4, 1e-5)
    for first in range(0, 40, 5):
        basis.absorb(torch.arange(first, first + 5), first + 5)
    assert int(basis.rank) == 8
    assert basis.energy[40:].max() < 1e-5 * basis.scale**2


def test_duplicates_add_no_direction():
    points = low_rank(10, 30)[:1].repeat(6, 1)
    basis = ResidualBasis(points, 4, 1e-4, 1e-5)
    basis.absorb(torch.tensor([0, 1]), 2)
    basis.absorb(torch.tensor([2, 3]), 4)
    assert int(basis.rank) == 1
