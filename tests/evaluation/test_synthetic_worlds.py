import pytest
import torch

from tools.synthetic_tables import document
from tools.synthetic_worlds import (
    BEST,
    METHODS,
    OBJECTS,
    RATIOS,
    SIDE,
    UNITS,
    World,
    clip_of,
    greedy_order,
)


def greedy_by_projection(rows, count):
    """Return ``count`` indices; each step adds the row that leaves the least projection error."""
    chosen = []
    for _ in range(count):
        missed = []
        for candidate in range(len(rows)):
            basis = torch.linalg.qr(rows[[*chosen, candidate]].T).Q
            missed.append(float((rows - rows @ basis @ basis.T).square().sum()))
        chosen.append(min(set(range(len(rows))) - set(chosen), key=missed.__getitem__))
    return chosen


def test_reference_selection_equals_greedy_column_subset_selection():
    rows = torch.randn(14, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert greedy_order(rows, 6).tolist() == greedy_by_projection(rows, 6)


def test_reference_selection_fills_the_budget_if_fewer_tokens_span_all_features():
    order = greedy_order(torch.eye(3).repeat(2, 1), 5).tolist()
    assert sorted(row % 3 for row in order[:3]) == [0, 1, 2]
    assert len(set(order)) == 5


@pytest.mark.parametrize("life", [1, 8])
def test_synthetic_object_lasts_its_lifetime_and_has_a_distinct_feature_direction(life):
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


def test_regret_is_the_coverage_error_minus_that_of_the_reference_selection():
    means = [
        {"rank": rank, "life": life, "noise": 0.05, "strength": 0.5, "ratio": ratio, "method": name}
        | {"objects": 0.5, "effective rank": 9.0, "seeds": 2.0}
        | {"coverage error": 0.01 * rank + (0.125 if name != BEST else 0)}
        for rank in (20, 40)
        for life in (1, 4, 8)
        for ratio in RATIOS
        for name in (BEST, *METHODS)
    ]
    # The rows of rank 20 are copied to rank 80. Further below, all rows are copied to every noise
    # and strength of the tables.
    for name in ("rank", "life", "noise", "strength"):
        filled = {20: 80} if name == "rank" else {}
        means += [{**row, name: filled[row[name]]} for row in means if row[name] in filled]
    noisy = [{**row, "noise": noise} for row in means for noise in (0.05, 0.15, 0.4)]
    every = [{**row, "strength": strength} for row in noisy for strength in (0.5, 1.0, 2.0)]
    text = document(every)
    regret = text.partition("regret:\n\n")[2].partition("\n\n")[0].splitlines()[2:]
    assert len(regret) == len(METHODS)
    assert all(line.count("0.125 (0.125 to 0.125)") == len(RATIOS) for line in regret)
    assert "--seeds 2 " in text and "162 made-up clips" in text
