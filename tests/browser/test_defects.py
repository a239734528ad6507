from __future__ import annotations

import pytest

from tests.browser.conftest import opened_at
from tests.browser.steps import named, slider


@pytest.fixture
def page(window, address):
    """A new browser tab with the page as it opens, that is with the results of an example."""
    page = opened_at(window, address)
    yield page
    page.close()


def test_message_about_a_ratio_out_of_reach_has_a_button_that_sets_the_lowest_possible_ratio(page):
    page.locator("[data-pick=b] select").select_option("run:dycoke")
    offer = page.locator("#gv-under .gv-notice", has_text="out of reach").get_by_role("button")
    share = offer.first.inner_text().removeprefix("Use").replace("\xa0", " ").strip()
    assert 10 < int(share.split()[0]) < 100
    offer.first.press("Enter")
    named(page, "b", f"DyCoke {share}")
    assert 100 * float(slider(page, "Retention").input_value()) == int(share.split()[0])
