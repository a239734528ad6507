import pytest
from hypothesis import given
from hypothesis import strategies as st

from gleanvid.metrics import agreement, same_answer

TEXT = st.lists(st.sampled_from(["red", "Ball", "left", "3.5", "the"]), max_size=8).map(" ".join)


def test_answer_agreement_counts_common_words_in_order():
    assert agreement("The ball is red.", "the ball is red") == 1.0
    assert agreement("red", "blue") == 0.0
    assert agreement("red ball", "red cube") == pytest.approx(0.5)
    # in order, only one word is common
    assert agreement("ball red", "red ball") == pytest.approx(0.5)
    assert agreement("", "") == 1.0
    assert agreement("", "red") == 0.0
    assert same_answer("Red!", "red") and not same_answer("red ball", "ball red")


@given(TEXT, TEXT)
def test_answer_agreement_is_symmetric_bounded_and_1_for_equal_answers(a, b):
    assert agreement(a, b) == pytest.approx(agreement(b, a))
    assert 0 <= agreement(a, b) <= 1
    assert agreement(a, a) == 1.0
    if not set(a.casefold().split()) & set(b.casefold().split()) and a and b:
        assert agreement(a, b) == 0.0
