from __future__ import annotations

import pytest

from components.session.actions.quality import fraction_right, quality
from gleanvid.evaluation.tables.statistics import wilson


def test_confidence_interval_over_one_clip_is_wilson_s_interval():
    verdicts = [True, True, False, True]
    assert fraction_right(verdicts, ["a"] * 4) == wilson(3, 4)


def test_interval_widens_only_if_clips_differ_in_their_fraction_of_right_answers():
    clips = ["a"] * 20 + ["b"] * 20 + ["c"] * 20
    apart = fraction_right([True] * 20 + [False] * 20 + [True] * 20, clips)
    assert (apart.value, apart.low, apart.high) == (pytest.approx(2 / 3), 0.0, 1.0)
    alike = fraction_right(([True] * 19 + [False]) * 3, clips)
    assert (alike.low, alike.high) == (wilson(57, 60).low, wilson(57, 60).high)


def test_quality_is_agreement_with_all_tokens_only_if_no_right_answer_is_known():
    assert quality(["a b"], [None], ["a b"]) == {"value": 1.0}
    known = quality(["a", "b"], ["a", None], ["x", "y"], ["one.mp4", "two.mp4"])
    assert (known["right"], known["of"]) == (1, 1)
