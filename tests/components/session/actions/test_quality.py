from __future__ import annotations

import pytest

from components.session.actions.quality import fraction_right, quality
from gleanvid.evaluation.tables.statistics import student_mean, wilson


def test_confidence_interval_over_one_clip_is_wilson_s_interval():
    verdicts = [True, True, False, True]
    assert fraction_right(verdicts, ["a"] * 4) == wilson(3, 4)


def test_interval_widens_only_if_clips_differ_in_their_fraction_of_right_answers():
    clips = ["a"] * 20 + ["b"] * 20 + ["c"] * 20
    apart = fraction_right([True] * 20 + [False] * 20 + [True] * 20, clips)
    assert (apart.value, apart.low, apart.high) == (pytest.approx(2 / 3), 0.0, 1.0)
    alike = fraction_right(([True] * 19 + [False]) * 3, clips)
    assert (alike.low, alike.high) == (wilson(57, 60).low, wilson(57, 60).high)


def test_interval_over_clips_with_equally_many_questions_is_the_interval_of_clip_means():
    """Student's t interval over the means of three clips is wider than Wilson's interval."""
    verdicts = [True] * 40 + [True] * 36 + [False] * 4 + [True] * 34 + [False] * 6
    found = fraction_right(verdicts, ["a"] * 40 + ["b"] * 40 + ["c"] * 40)
    by_clip = student_mean([1.0, 0.9, 0.85])
    assert found.low == pytest.approx(by_clip.low) and found.high == 1.0


def test_quality_is_agreement_with_all_tokens_only_if_no_right_answer_is_known():
    assert quality(["a b"], [None], ["a b"]) == {"value": 1.0}
    known = quality(["a", "b"], ["a", None], ["x", "y"], ["one.mp4", "two.mp4"])
    assert (known["right"], known["of"]) == (1, 1)
