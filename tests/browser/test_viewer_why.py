"""Why: places of tokens, parts of a budget, all units at a glance, what a move changed."""

from __future__ import annotations

import re

import pytest

from tests.browser.alone import open_alone, settle
from tests.browser.viewer_case import (  # noqa: F401  (fixtures)
    CELLS,
    LATE,
    MERGED,
    OTHER,
    PRUNED,
    choose,
    fresh_page,
    look_at,
    made_case,
    over,
    shared_tab,
)

LINE = ".gv-now"


def pinned(page, token: int) -> str:
    """Pin a token of A; return what the line says of it after its place."""
    look_at(page, token // CELLS)
    page.click("[data-side=a] .gv-frame", position=over(page, token))
    text = page.locator(LINE).inner_text()
    page.keyboard.press("Escape")
    return text.split(". ", 1)[1].removesuffix(" Details")


def test_a_pinned_token_says_its_place_and_the_score_at_the_border(page, case):
    record = case.runs[PRUNED].compression
    joint = record.scores["joint"][2 * CELLS : 3 * CELLS]
    kept = record.mask[2 * CELLS : 3 * CELLS]
    budget = int(kept.sum())
    order = sorted(range(CELLS), key=lambda n: (not kept[n], -float(joint[n])))
    choose(page, a=PRUNED)
    best = pinned(page, 2 * CELLS + order[0])
    found = re.fullmatch(
        rf"Kept: 1st of {budget} places in this unit \(joint (\S+); the {budget}th has (\S+)\)\.",
        best,
    )
    wanted = [float(joint[order[place]]) for place in (0, budget - 1)]
    assert [float(value) for value in found.groups()] == pytest.approx(wanted, rel=5e-3)
    missed = pinned(page, 2 * CELLS + order[budget])
    assert missed.startswith(f"Dropped: {budget + 1}th, one place short (joint ")
    far = pinned(page, 2 * CELLS + order[budget + 4])
    assert re.match(r"Dropped: \d+th, \w+ places short \(joint ", far)


def test_a_token_without_a_place_by_score_claims_none(page, case):
    late = case.runs[LATE].by_layer[2]
    for method, record in ((OTHER, case.runs[OTHER].compression), (LATE, late)):
        choose(page, a=method)
        assert not record.scores
        for token, verb in ((int(record.keep[0]), "Kept"), (CELLS - 1, "Dropped")):
            if bool(record.mask[token]) == (verb == "Kept"):
                assert re.fullmatch(rf"{verb}\. .* gives no score\.", pinned(page, token))


def test_a_merged_token_says_where_it_went_and_with_how_many(page, case):
    record = case.runs[MERGED].compression
    choose(page, a=MERGED)
    token = int(((record.group >= 0) & ~record.mask).nonzero()[0])
    home = int(record.keep[record.group[token]])
    others = int((record.group == record.group[token]).sum()) - 2
    text = pinned(page, token)
    assert f"into the token at unit {home // CELLS + 1}, row " in text
    assert text.endswith(f", with {others} other{'s' * (others > 1)}." if others else ".")


@pytest.mark.parametrize("size", [(1400, 900), (390, 844)])
def test_the_line_of_a_pinned_token_is_in_view_without_scrolling(window, case, size):
    page = window.new_page()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    open_alone(page, case.packed)
    choose(page, a=PRUNED, b=MERGED)
    settle(page)
    before = page.locator("[data-side=b] .gv-frame").bounding_box()
    page.click("[data-side=b] .gv-frame", position={"x": before["width"] / 2, "y": 20})
    settle(page)
    line = page.locator(LINE).bounding_box()
    assert line["y"] + line["height"] <= size[1]
    assert page.evaluate("scrollY") == 0
    assert page.locator("[data-side=b] .gv-frame").bounding_box() == before
    page.get_by_role("button", name="Details").click()
    page.wait_for_function(
        "document.querySelector('.gv-pin').getBoundingClientRect().top < innerHeight - 40"
    )
    page.close()
