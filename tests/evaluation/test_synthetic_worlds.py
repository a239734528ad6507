"""Synthetic clips with a known best selection: fast greedy selection against plain projection."""

import pytest
import torch

from tools.synthetic_worlds import OBJECTS, SIDE, UNITS, World, clip_of, greedy_order


def greedy_by_projection(rows, count):
    """Greedy selection that projects every candidate anew."""
    chosen = []
    for _ in range(count):
        missed = []
        for candidate in range(len(rows)):
            basis = torch.linalg.qr(rows[[*chosen, candidate]].T).Q
            missed.append(float((rows - rows @ basis @ basis.T).square().sum()))
        chosen.append(min(set(range(len(rows))) - set(chosen), key=missed.__getitem__))
    return chosen


def test_reference_is_greedy_column_subset_selection():
    rows = torch.randn(14, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert greedy_order(rows, 6).tolist() == greedy_by_projection(rows, 6)


def test_reference_continues_once_everything_is_explained():
    order = greedy_order(torch.eye(3).repeat(2, 1), 5).tolist()
    assert sorted(row % 3 for row in order[:3]) == [0, 1, 2]
    assert len(set(order)) == 5


@pytest.mark.parametrize("life", [1, 8])
def test_objects_last_their_life_and_nothing_else_has_their_direction(life):
    tokens, shown = clip_of(World(life=life, noise=0.05), seed=1)
    assert tokens.grid == (UNITS, SIDE, SIDE)
    lives = [
        len((shown.view(UNITS, -1) == number).any(dim=1).nonzero()) for number in range(OBJECTS)
    ]
    assert max(lives) == life
    one = next(number for number in range(OBJECTS) if (shown == number).any())
    centred = tokens.features - tokens.features[shown < 0].mean(dim=0)
    unit = torch.nn.functional.normalize(centred, dim=1)
    alike = unit @ unit[shown == one].mean(dim=0)
    assert alike[shown == one].min() > 0.9 and alike[shown < 0].max() < 0.6
