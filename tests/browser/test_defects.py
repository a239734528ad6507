from __future__ import annotations

import pytest

from tests.browser.conftest import opened_at
from tests.browser.steps import answered, ask, more, named, notice, quiet, says, slider


@pytest.fixture
def page(window, address):
    """A new browser tab with the page as it opens, that is with the results of an example."""
    page = opened_at(window, address)
    yield page
    page.close()


def test_answers_stay_if_ask_is_pressed_right_after_typing_a_number(visit, library):
    """Leaving a number box starts a preview, whose request may arrive after the question."""
    more(visit)
    held = []
    visit.route("**/queue/join*", lambda route: route.continue_() if held else held.append(route))
    library.encode_s = 1.0
    try:
        visit.get_by_label("number input for Frames").fill("20")
        ask(visit, "What is this?")
        notice(visit, "Encoding 20")
        held[0].continue_()
        says(visit, "of 10 ·")
        answered(visit)
        quiet(visit)
    finally:
        library.encode_s = 0.0
    answered(visit, 5)


def test_message_about_a_ratio_out_of_reach_has_a_button_that_sets_the_lowest_possible_ratio(page):
    page.locator("[data-pick=b] select").select_option("run:dycoke")
    offer = page.locator("#gv-under .gv-notice", has_text="out of reach").get_by_role("button")
    share = offer.first.inner_text().removeprefix("Use").replace("\xa0", " ").strip()
    assert 10 < int(share.split()[0]) < 100
    offer.first.press("Enter")
    named(page, "b", f"DyCoke {share}")
    assert 100 * float(slider(page, "Retention").input_value()) == int(share.split()[0])
