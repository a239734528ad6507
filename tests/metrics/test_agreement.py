import pytest
from hypothesis import given
from hypothesis import strategies as st

from gleanvid.metrics import agreement, marked, same_answer

TEXT = st.lists(st.sampled_from(["red", "Ball", "left", "3.5", "the"]), max_size=8).map(" ".join)


def test_by_hand():
    assert agreement("The ball is red.", "the ball is red") == 1.0
    assert agreement("red", "blue") == 0.0
    assert agreement("red ball", "red cube") == pytest.approx(0.5)
    assert agreement("ball red", "red ball") == pytest.approx(0.5)  # order counts
    assert agreement("", "") == 1.0
    assert agreement("", "red") == 0.0
    assert same_answer("Red!", "red") and not same_answer("red ball", "ball red")


@given(TEXT, TEXT)
def test_symmetric_bounded_and_one_for_itself(a, b):
    assert agreement(a, b) == pytest.approx(agreement(b, a))
    assert 0 <= agreement(a, b) <= 1
    assert agreement(a, a) == 1.0


@given(TEXT, TEXT)
def test_marked_pieces_are_the_answer_and_unmarked_words_are_common(answer, reference):
    pieces = marked(answer, reference)
    assert "".join(piece for piece, _ in pieces) == answer
    kept = [piece for piece, differs in pieces if piece.strip() and not differs]
    total = len(answer.split()) + len(reference.split())
    if answer and reference:
        assert 2 * len(kept) / total == pytest.approx(agreement(answer, reference))


def test_marked_words():
    assert marked("A blue ball.", "a red ball") == [
        ("A", False),
        (" ", False),
        ("blue", True),
        (" ", False),
        ("ball", False),
        (".", False),
    ]
