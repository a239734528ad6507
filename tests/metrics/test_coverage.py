import pytest
import torch

from gleanvid.metrics import coverage_error, coverage_errors
from tests.metrics.cases import axes, clip, record, rotation


def test_a_dropped_token_in_the_span_costs_nothing_one_outside_all():
    features = torch.cat([axes(0, 1), 3 * axes(0), 2 * axes(2)])
    kept = record([0, 1])
    assert coverage_errors(features, kept)[2:].tolist() == pytest.approx([0, 1])
    assert coverage_error(features, kept) == pytest.approx(0.5)


def test_sums_of_kept_tokens_are_covered_though_no_kept_token_is_like_them():
    features = torch.cat([axes(0, 1), axes(0) + axes(1), axes(0) - axes(1)])
    assert coverage_error(features, record([0, 1])) == pytest.approx(0, abs=1e-6)


def test_one_axis_of_two_explains_half_of_the_diagonal():
    features = torch.cat([axes(0), axes(0) + axes(1)])
    assert coverage_error(features, record([0], (2, 1, 1))) == pytest.approx(0.5)


def test_nothing_dropped_and_no_energy():
    features, _ = clip()
    assert coverage_error(features[:4], record([0, 1, 2, 3])) == 0.0
    zeros = torch.cat([axes(0), torch.zeros(3, 4)])
    assert coverage_error(zeros, record([0])) == 0.0
    assert bool(torch.isnan(coverage_errors(zeros, record([0]))).all())


def test_agrees_with_least_squares_and_survives_rotation_and_scale():
    features, kept = clip(width=90)
    rows = features.double()
    span = rows[kept.keep]
    outside = rows - rows @ torch.linalg.pinv(span) @ span
    share = (outside.square().sum(1) / rows.square().sum(1))[~kept.mask]
    assert coverage_error(features, kept) == pytest.approx(float(share.mean()), abs=1e-5)
    turned = 0.01 * features @ rotation(90)
    assert coverage_error(turned, kept) == pytest.approx(float(share.mean()), abs=1e-5)


def test_keeping_more_never_covers_less():
    features, kept = clip(width=90)
    more = record(sorted({*kept.keep.tolist(), 1, 25, 70}), kept.grid)
    lost, still = coverage_errors(features, kept), coverage_errors(features, more)
    both = ~torch.isnan(still)
    assert bool((still[both] <= lost[both] + 1e-6).all())
