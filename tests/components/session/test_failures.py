"""The list of wrong answers is that of the evaluation's journals, and opens their clips."""

from __future__ import annotations

import pytest

from components.session import failures
from tools import failures as written

METHOD, RATIO = "gleanvid", "0.1"


def test_the_list_is_that_of_the_journals():
    assert written.failures() == failures.known(), "run python -m tools.failures"


def test_an_item_becomes_its_clip_with_the_question_and_its_right_answer(tmp_path):
    item, said = next(iter(failures.known()["wrong"][METHOD][RATIO].items()))
    example = failures.example_of(item, tmp_path)
    question, right = failures.known()["questions"][item]
    assert example.path.is_file() and example.question == question
    assert example.expected(question) == right != said


@pytest.mark.parametrize("sent", [("x", RATIO, "y"), (METHOD, 0.1, None), ([], {}, RATIO)])
def test_what_is_not_in_the_list_is_not_opened(sent):
    assert not failures.is_known(*sent)
