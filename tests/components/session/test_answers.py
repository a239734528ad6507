from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from components.session.answers import label_recall, labels_of
from gleanvid import Compression, Uniform
from tests.components.fake import a_run, moving_square

CAR = {"label": "car", "kept": True, "unit": 0, "rectangle": [0.0, 0.0, 63.0, 72.0]}


def seen(labels):
    record = Compression.pruned(torch.arange(28), (1, 8, 14))
    run = a_run(moving_square(2), record, Uniform(0.25), "", "")
    return replace(run, made_with={"labels": labels})


def test_label_boxes_are_fractions_of_the_frame_and_label_recall_is_reported():
    run = seen([CAR, CAR | {"label": "dog", "kept": False}])
    assert labels_of(run)[0] == {"text": "car", "kept": True, "unit": 0, "box": [0, 0, 0.5, 1]}
    assert label_recall(run) == 0.5


@pytest.mark.parametrize("labels", [None, 3, [None], [{"label": "x"}], [CAR | {"rectangle": [1]}]])
def test_malformed_labels_of_a_run_are_read_as_no_labels(labels):
    run = seen(labels)
    assert labels_of(run) == [] and math.isnan(label_recall(run))
