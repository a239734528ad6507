"""Faults that people met on the page, each with the steps that showed it."""

from __future__ import annotations

import pytest

from tests.browser.conftest import opened_at
from tests.browser.steps import answered, ask, more, named, notice, quiet, reply, says

LINK = "?clip=glimpse_2.mp4&question=What+does+the+star+do%3F&gleanvid.tau=9&retention_ratio=0.2"


@pytest.mark.parametrize("size", [(1400, 900), (390, 844)])
def test_a_wrong_answer_can_be_read_beside_what_was_expected(window, address, size):
    page = opened_at(window, address)
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    page.get_by_role("button", name="What is there?").click()
    page.wait_for_selector(".gv-pane[data-side=b] .gv-wrong:has-text('green cross')")
    answered(page)
    pane = page.locator(".gv-pane[data-side=b]").bounding_box()
    words, verdict = reply(page, "b"), page.locator(".gv-pane[data-side=b] .gv-verdict")
    assert words.bounding_box()["width"] > 120
    for part in (words, verdict):
        box = part.bounding_box()
        assert box["x"] + box["width"] <= pane["x"] + pane["width"] + 1
    assert verdict.evaluate("found => found.scrollWidth <= found.clientWidth")
    page.close()


def test_answers_stay_where_ask_is_pressed_right_after_a_number_was_typed(visit, library):
    more(visit)
    library.encode_s = 0.8
    try:
        visit.get_by_label("number input for Frames").fill("20")
        ask(visit, "What is this?")
        says(visit, "of 10 ·")
        answered(visit)
        said = reply(visit, "b").inner_text()
        quiet(visit, 2)
    finally:
        library.encode_s = 0.0
    answered(visit, 5)
    assert reply(visit, "b").inner_text() == said


def test_enter_in_a_number_box_of_a_slider_applies_the_number(visit):
    more(visit)
    box = visit.get_by_label("number input for Frames")
    box.fill("12")
    box.press("Enter")
    says(visit, "of 6 ·")
    assert box.evaluate("box => box === document.activeElement")


def test_back_shows_what_stood_on_that_page(window, address):
    page = opened_at(window, address)
    answered(page)
    question = page.get_by_label("Question", exact=True)
    before = question.input_value(), reply(page, "b").inner_text()
    page.goto(f"{address}/{LINK}")
    named(page, "b", "GleanVID 20 % · tau 9")
    answered(page)
    page.go_back()
    page.wait_for_selector(".gv-viewer[data-state=ready]")
    named(page, "b", "GleanVID 10 %")
    answered(page)
    assert (question.input_value(), reply(page, "b").inner_text()) == before
    page.go_forward()
    named(page, "b", "GleanVID 20 % · tau 9")
    answered(page)
    assert question.input_value() == "What does the star do?"
    page.close()
