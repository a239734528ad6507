import math

import pytest
import torch

from gleanvid.compressors import method_from
from gleanvid.types import Compression, VideoTokens
from tools.filmed_metrics import (
    clip_agreement,
    frame_agreement,
    label_recall,
    principal_components,
    reconstruction,
)

GRID = (3, 2, 2)
LONG = (12, 4, 4)
CLASSES = torch.eye(12)


def head(rows):
    return 40 * rows


def kept(*places):
    return Compression.pruned(torch.tensor(places), GRID)


def test_label_recall_counts_labels_that_a_kept_token_still_predicts():
    assert label_recall(CLASSES, kept(0, 4, 5), head) == 3 / 12
    assert label_recall(CLASSES, kept(*range(12)), head) == 1
    assert math.isnan(label_recall(torch.zeros(12, 12), kept(0), head))


def test_label_recall_is_0_after_merging_unlike_tokens():
    features = torch.eye(12)
    record = method_from("resize(0.25)").compress(VideoTokens(features, GRID))
    assert label_recall(features, record, head) == 0


def test_clip_agreement_is_1_with_all_tokens_and_lower_with_few():
    features = torch.randn(12, 12, generator=torch.Generator().manual_seed(0))
    assert clip_agreement(features, kept(*range(12)), head) == pytest.approx((1.0, 0.0), abs=1e-6)
    assert frame_agreement(features, kept(*range(12)), head) == pytest.approx(1.0)
    overlap, kl = clip_agreement(features, kept(3), head)
    assert overlap < 1 and kl > 0.1


def test_label_divergence_equals_its_definition():
    features = torch.randn(12, 12, generator=torch.Generator().manual_seed(1))
    p, q = (torch.softmax(rows.mean(0), 0) for rows in (features, features[[1, 7]]))
    expected = float((p * (p / q).log()).sum())
    assert clip_agreement(features, kept(1, 7), lambda rows: rows)[1] == pytest.approx(
        expected, 1e-4
    )


def test_frame_agreement_of_a_unit_without_a_kept_token_is_0():
    features = torch.randn(12, 12, generator=torch.Generator().manual_seed(2))
    assert frame_agreement(features, kept(*range(8)), head) == pytest.approx(2 / 3)


def test_frame_agreement_counts_a_merged_token_for_every_unit_it_covers():
    features = torch.randn(1, 4, 12).repeat(3, 1, 1).flatten(0, 1)
    found = method_from("pool(0.34, units=3)").compress(VideoTokens(features, GRID))
    assert found.budgets.tolist() == [4, 0, 0]
    assert frame_agreement(features, found, head) == pytest.approx(1.0)


def every(step):
    return Compression.pruned(torch.arange(0, 192, step), LONG)


def test_reconstruction_predicts_dropped_tokens_that_repeat_the_nearest_kept_token():
    frames = torch.randn(12, 2, 8, generator=torch.Generator().manual_seed(0))
    # tokens within each half of a frame are equal
    features = frames.repeat_interleave(8, dim=1).flatten(0, 1)
    assert reconstruction(features, every(2)) > 0.95


def test_reconstruction_cannot_predict_noise_on_held_out_units():
    features = torch.randn(192, 8, generator=torch.Generator().manual_seed(1))
    assert reconstruction(features, every(2)) < 0.05


def test_reconstruction_score_without_dropped_tokens_is_nan():
    assert math.isnan(reconstruction(torch.randn(192, 8), every(1)))


def test_enough_principal_components_preserve_distances():
    features = torch.randn(40, 6, generator=torch.Generator().manual_seed(2)).double()
    described = principal_components(features, 6)
    torch.testing.assert_close(torch.cdist(described, described), torch.cdist(features, features))
    assert principal_components(features, 2).var(dim=0).sum() < described.var(dim=0).sum()
