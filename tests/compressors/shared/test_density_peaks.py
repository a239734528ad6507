import math

import pytest
import torch

from gleanvid.compressors.shared.density_peaks import density_peaks


def points(count=40, width=6, seed=0):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed))


def reference(features, num_centers, k):
    """Return cluster centres, the cluster of every point, and scores, by the definition."""
    rows = features.double().tolist()
    far = [[math.dist(a, b) / math.sqrt(len(a)) for b in rows] for a in rows]
    density = [math.exp(-sum(d * d for d in sorted(line)[:k]) / k) for line in far]
    largest = max(map(max, far))
    score = []
    for i, line in enumerate(far):
        denser = [d for d, other in zip(line, density, strict=True) if other > density[i]]
        score.append(density[i] * min(denser, default=largest))
    best = sorted(range(len(rows)), key=lambda i: (-score[i], i))[:num_centers]
    centers = sorted(best)
    nearest = [min(range(len(centers)), key=lambda c: line[centers[c]]) for line in far]
    return centers, nearest, score


@pytest.mark.parametrize(("num_centers", "k"), [(1, 4), (5, 4), (9, 7), (39, 3), (40, 40)])
def test_density_peaks_equal_a_direct_implementation(num_centers, k):
    features = points(seed=num_centers)
    centers, nearest, score = density_peaks(features, num_centers, k)
    expected = reference(features, num_centers, k)
    assert centers.tolist() == expected[0] and nearest.tolist() == expected[1]
    torch.testing.assert_close(score.exp().double(), torch.tensor(expected[2]).double())


def test_density_peaks_of_a_batch_equal_those_of_its_members_alone():
    features = torch.stack([points(seed=seed) for seed in range(5)])
    together = density_peaks(features, 6, 4)
    for i, alone in enumerate(density_peaks(item, 6, 4) for item in features):
        assert torch.equal(together[0][i], alone[0]) and torch.equal(together[1][i], alone[1])
        torch.testing.assert_close(together[2][i], alone[2])


def test_densities_of_distant_points_keep_their_order():
    features = points(30) * 100.0
    centers, _, score = density_peaks(features, 5, 4)
    assert score.max() < -100 and torch.isfinite(score).all()
    assert score.unique().numel() == 30
    assert len(centers) == 5


def test_ties_between_equal_points_go_to_the_lower_index():
    centers, nearest, _ = density_peaks(torch.ones(9, 4), 3, 2)
    assert centers.tolist() == [0, 1, 2]
    assert nearest[:3].tolist() == [0, 1, 2] and (nearest[3:] == 0).all()
