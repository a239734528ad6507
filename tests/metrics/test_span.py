import pytest
import torch

from gleanvid.compressors import COMPRESSORS
from gleanvid.metrics import (
    basis_rank,
    coverage_error,
    coverage_errors,
    debiased,
    energy_outside_span,
    kept_span,
    residual_energy,
)
from gleanvid.types import Compression, VideoTokens
from tests.metrics.cases import axes, clip, record, rotation


def by_lstsq(features, kept):
    """Return two fractions of each kept token's energy, by least squares.

    The first lies outside the span of the kept tokens of earlier units, the second outside that of
    all kept tokens before it.
    """
    rows = features.double()[kept.keep]
    unit = kept.keep // (kept.grid[1] * kept.grid[2])
    across, fresh = [], []
    for place, row in enumerate(rows):
        for seen, shares in ((rows[unit < unit[place]], across), (rows[:place], fresh)):
            explained = torch.linalg.pinv(seen, rtol=1e-9) @ seen @ row if len(seen) else 0 * row
            shares.append(float((row - explained).square().sum() / row.square().sum()))
    return torch.tensor(across), torch.tensor(fresh)


# feature width below, near and above the number of kept tokens
@pytest.mark.parametrize("width", [8, 24, 90])
def test_kept_span_agrees_with_a_separate_least_squares_problem_for_each_token(width):
    features, kept = clip(width=width)
    across, fresh = by_lstsq(features, kept)
    span = kept_span(features, kept)
    torch.testing.assert_close(span.across, across.double(), atol=1e-5, rtol=0)
    torch.testing.assert_close(span.fresh, fresh.double(), atol=1e-5, rtol=0)
    assert int(span.rank[-1]) == min(kept.num_kept, width)
    assert bool((span.rank.diff() >= 0).all())


def test_residual_energy_is_invariant_to_rotation_and_scale():
    features, kept = clip()
    turned = 1e3 * features @ rotation(features.shape[1])
    assert residual_energy(turned, kept) == pytest.approx(residual_energy(features, kept), abs=1e-5)
    found = energy_outside_span(turned, kept)
    assert found == pytest.approx(energy_outside_span(features, kept), abs=1e-5)


def test_basis_rank_equals_the_rank_in_the_trace_of_gleanvid():
    generator = torch.Generator().manual_seed(4)
    tokens = VideoTokens(torch.randn(8 * 20, 64, generator=generator), (8, 4, 5))
    kept = COMPRESSORS["gleanvid"](0.2).compress(tokens)
    ours = basis_rank(debiased(tokens.features), kept)
    assert ours.tolist() == kept.trace["basis_rank"].tolist()


def test_span_metrics_use_merged_tokens_as_the_model_receives_them():
    features = axes(0, 1, 2, 3)
    group, weight = torch.tensor([0, 0, 1, -1]), torch.tensor([0.5, 0.5, 1.0, 0.0])
    merged = Compression(torch.tensor([0, 2]), (2, 1, 2), group, weight)
    assert basis_rank(features, merged).tolist() == [1, 2]
    assert residual_energy(features, merged) == pytest.approx(1.0)


def test_coverage_error_is_0_inside_the_span_and_1_outside():
    features = torch.cat([axes(0, 1), 3 * axes(0), 2 * axes(2)])
    kept = record([0, 1])
    assert coverage_errors(features, kept)[2:].tolist() == pytest.approx([0, 1])
    assert coverage_error(features, kept) == pytest.approx(0.5)


def test_coverage_error_agrees_with_least_squares_and_is_invariant_to_rotation_and_scale():
    features, kept = clip(width=90)
    rows = features.double()
    span = rows[kept.keep]
    outside = rows - rows @ torch.linalg.pinv(span) @ span
    share = (outside.square().sum(1) / rows.square().sum(1))[~kept.mask]
    assert coverage_error(features, kept) == pytest.approx(float(share.mean()), abs=1e-5)
    turned = 0.01 * features @ rotation(90)
    assert coverage_error(turned, kept) == pytest.approx(float(share.mean()), abs=1e-5)
