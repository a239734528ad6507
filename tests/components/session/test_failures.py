from __future__ import annotations

import pytest

from components.session import failures
from tools import failures as written

METHOD, RATIO = "gleanvid", "0.1"


def test_stored_list_of_wrong_answers_equals_the_list_computed_from_evaluation_journals():
    assert written.failures() == failures.known(), "run python -m tools.failures"


def test_wrong_answer_of_the_evaluation_opens_its_clip_with_question_and_right_answer(tmp_path):
    item, said = next(iter(failures.known()["wrong"][METHOD][RATIO].items()))
    example = failures.example_of(item, tmp_path)
    question, right = failures.known()["questions"][item]
    assert example.path.is_file() and example.question == question
    assert example.expected(question) == right != said


def test_file_name_alone_identifies_the_clip_of_a_wrong_answer():
    item = next(iter(failures.known()["questions"]))
    seed, split, clip, _ = item.split("/")
    name = failures.file_name(item)
    assert name == f"glimpse-{seed}-{split}-{int(clip):05d}.mp4"
    assert failures.file_name(failures.item_of(name)) == name
    for other in ("glimpse-0-test-99999.mp4", f"../{name}", name.upper(), ""):
        assert failures.item_of(other) is None


@pytest.mark.parametrize("sent", [("x", RATIO, "y"), (METHOD, 0.1, None), ([], {}, RATIO)])
def test_wrong_answer_is_unknown_if_its_method_ratio_or_question_is_unknown_or_malformed(sent):
    assert not failures.is_known(*sent)
