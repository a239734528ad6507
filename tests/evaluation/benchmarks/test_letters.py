"""GleanVID and LMMs-Eval 0.7.3 (``letters.json``) read the same option letters from answers."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gleanvid.evaluation.benchmarks.letters import first_letter, lone_letter, sure_letter

ROWS = json.loads(Path(__file__).with_name("letters.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "sure", "lone", "first"), ROWS)
def test_letters_read_from_an_answer_equal_those_of_lmms_eval(text, sure, lone, first):
    assert sure_letter(text) == sure
    assert lone_letter(text) == lone
    assert first_letter(text) == first


@given(st.sampled_from("ABCD"), st.sampled_from(["{}", "{}.", "({})", "{}. a cup", "{}) a cup"]))
def test_every_letter_function_finds_the_option_letter_in_usual_answers(letter, form):
    for find in (sure_letter, lone_letter, first_letter):
        assert find(form.format(letter)) == letter


@given(st.text())
def test_letter_found_in_any_text_is_an_option_letter_or_empty(text):
    assert sure_letter(text) in set("ABCD") | {""}
    assert lone_letter(text) in set("ABCDE") | {""}
    assert first_letter(text) in set("ABCDE") | {""}
