import pytest
import torch

from gleanvid.compressors.gleanvid import budget as module
from gleanvid.compressors.gleanvid.budget import _solved, history_residuals, novelty_shares


def test_gini_is_0_for_equal_novelty_and_large_if_one_unit_has_all():
    share, gini = novelty_shares(torch.ones(4, dtype=torch.float64))
    assert share.tolist() == [0.25] * 4 and float(gini) == pytest.approx(0.0, abs=1e-12)
    _, gini = novelty_shares(torch.tensor([0.0, 0.0, 0.0, 4.0], dtype=torch.float64))
    assert float(gini) == pytest.approx(0.75)


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


@pytest.mark.parametrize(("units", "history"), [(9, None), (9, 1), (9, 3), (40, None)])
def test_number_of_systems_solved_at_once_does_not_change_history_residuals(
    units, history, monkeypatch
):
    prototypes = torch.randn(units, 4, 6, generator=torch.Generator().manual_seed(3))
    whole = history_residuals(prototypes, history, 1e-4)
    monkeypatch.setattr(module, "_SYSTEMS", 1)
    torch.testing.assert_close(history_residuals(prototypes, history, 1e-4), whole)


def long_clip(case):
    """Return mean features of 4 grid cells in 70 temporal units, float32 [70, 4, 24]."""
    made = torch.randn(70, 4, 24, generator=torch.Generator().manual_seed(5))
    if case == "fades in":
        return made * torch.logspace(-4, 0, 70)[:, None, None]
    if case == "begins and stops with nothing":
        made[:9] = made[40:50] = made[:, 2] = 0
    if case == "repeats":
        made[10:] = made[:10].repeat(6, 1, 1) * torch.linspace(1, 3, 60)[:, None, None]
    return made


@pytest.mark.parametrize("case", ["noise", "fades in", "repeats", "begins and stops with nothing"])
def test_residuals_of_long_clips_equal_those_of_one_system_per_unit(case):
    prototypes = long_clip(case)
    one_by_one = _solved(prototypes, 70, 1e-4)
    found = history_residuals(prototypes, None, 1e-4)
    torch.testing.assert_close(found, one_by_one, rtol=1e-6, atol=1e-12)


def test_residuals_of_a_clip_with_a_faint_start_equal_those_of_one_system_per_unit():
    """The first units have 10^12 times less energy, so one ridge for all units would hide them."""
    generator = torch.Generator().manual_seed(4)
    prototypes = torch.randn(40, 3, 8, generator=generator).cumsum(0)
    prototypes[:20] *= 1e-6
    expected = _solved(prototypes, 40, 1e-4)
    torch.testing.assert_close(history_residuals(prototypes, None, 1e-4), expected)
