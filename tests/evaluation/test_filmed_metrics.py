import math

import pytest
import torch

from gleanvid.types import Compression
from tools.filmed_metrics import clip_agreement, frame_agreement, label_recall, reconstruction

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


def test_clip_agreement_is_1_with_all_tokens_and_lower_with_few():
    features = torch.randn(12, 12, generator=torch.Generator().manual_seed(0))
    assert clip_agreement(features, kept(*range(12)), head) == pytest.approx((1.0, 0.0), abs=1e-6)
    assert frame_agreement(features, kept(*range(12)), head) == pytest.approx(1.0)
    overlap, kl = clip_agreement(features, kept(3), head)
    assert overlap < 1 and kl > 0.1


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
