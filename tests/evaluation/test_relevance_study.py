import numpy as np
import pytest
import torch

from tools.relevance_study.predicting import weighted_auc
from tools.relevance_study.rewording import reworded
from tools.relevance_study.scores import against_truth, agreement

SCORES = torch.tensor([0.9, 0.5, 0.5, 0.1, 0.2])
HOLDS = torch.tensor([True, True, False, False, False])


def test_auc_and_precision_are_computed_among_all_tokens_and_among_tokens_of_objects():
    objects = torch.tensor([True, True, True, False, False])
    found = against_truth(SCORES, HOLDS, objects)
    # in the AUC, a pair of equal scores counts half
    assert found == pytest.approx([5.5 / 6, 1.0, 1.5 / 2, 1.0])
    # if all objects belong to the answer, only AUC and precision among all tokens are returned
    assert len(against_truth(SCORES, HOLDS, HOLDS)) == 2
    assert against_truth(SCORES, ~HOLDS & HOLDS, objects) == []


def test_auc_of_weighted_samples_counts_each_as_often_as_its_weight():
    values, right = np.array([0.9, 0.5, 0.1]), np.array([True, False, True])
    assert weighted_auc(values, right, np.array([1, 1, 1])) == 0.5
    assert weighted_auc(values, right, np.array([3, 1, 1])) == 0.75


def test_agreement_of_two_maps_is_the_overlap_of_their_top_tenth():
    first = torch.arange(20.0)
    assert agreement(first, first) == {"rank": pytest.approx(1), "top": 1.0}
    other = torch.cat([first[:18], first[18:] * -1])
    assert agreement(first, other)["top"] == 0.0


def test_rewording_a_question_returns_its_other_known_wording_or_none():
    assert reworded("What colour is the star?") == "Which colour does the star have?"
    assert reworded("Which colour does the star have?") == "What colour is the star?"
    assert reworded("Why?") is None
