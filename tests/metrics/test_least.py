from types import SimpleNamespace

import pytest

from gleanvid.metrics.least import Least


def searched(is_kept, num_tokens=1600, floor=0, **settings):
    """Run the search for the lowest ratio that keeps the answer of a fake model.

    ``is_kept(tokens)``: whether the answer stays the same with so many tokens. Ratios that leave
    fewer than ``floor`` tokens are refused.
    """
    found = Least("M", "A red star.", num_tokens, **settings)
    while (ratio := found.next_ratio) is not None:
        tokens = int(ratio * num_tokens + 1e-9)
        run = SimpleNamespace(answer="a red star" if is_kept(tokens) else "a moon")
        found = found.refused(ratio, "no") if tokens < floor else found.answered(ratio, run)
    return found


@pytest.mark.parametrize("least", [17, 60, 199, 700, 1300])
def test_lowest_ratio_that_keeps_the_answer_is_bracketed_within_10_percent_by_seven_answers(least):
    found = searched(lambda tokens: tokens >= least)
    assert found.below.tokens < least <= found.above.tokens <= 1.1 * found.below.tokens + 1
    assert len(found.tries) <= 7 and not found.came_back
    assert str(found).startswith("M keeps it down to ")


@pytest.mark.parametrize("least", range(1, 12))
def test_lowest_ratio_that_keeps_the_answer_is_exact_to_one_token_after_up_to_eight_answers(least):
    found = searched(lambda tokens: tokens >= least, num_tokens=12, passes=99)
    assert (found.above.tokens if found.above else 12) == least
    assert (found.below.tokens if found.below else 0) == least - 1
    assert len({one.tokens for one in found.tries}) == len(found.tries) <= 8


def test_right_answer_at_a_ratio_below_a_wrong_one_is_reported_and_does_not_change_the_result():
    found = searched(lambda tokens: tokens >= 300 or tokens < 60)
    assert 300 <= found.above.tokens < 330
    assert {one.tokens for one in found.came_back} == {51}
    (again,), lost, kept = found.came_back, found.below, found.above
    order = "kept at {:.10g} %, lost at {:.10g} %, kept at {:.10g} %."
    ratios = (100 * one.ratio for one in (again, lost, kept))
    assert str(found).endswith(f"Not monotone: {order.format(*ratios)}")
    assert found.summary()["came_back"] == [one.ratio for one in found.came_back]


def test_refused_ratio_is_distinguished_from_a_changed_answer():
    found = searched(lambda tokens: True, floor=400)
    assert found.below.run is None and 400 <= found.above.tokens < 440
    assert "refuses lower ratios: no." in str(found)
