from __future__ import annotations

import pytest

from components.jobs.engine import Engine
from components.jobs.examples import examples
from components.jobs.local import LocalBackend
from components.page.page import BUILT_IN_MODEL, PHOTO_MODEL
from tests.browser.conftest import listen, served
from tests.browser.steps import notice, tab

METHODS = "[...document.querySelectorAll('#gv-methods label')].map((label) => label.innerText)"
FLASH, DRIVEWAY = (f"[id='gv-example-{name}.mp4']" for name in ("glimpse_1", "driveway"))


@pytest.fixture(scope="module")
def page(browser):
    with served(Engine(LocalBackend({})), examples(), [BUILT_IN_MODEL, PHOTO_MODEL]) as url:
        page = listen(browser)
        page.goto(url)
        page.wait_for_selector(".gv-viewer[data-state=ready]")
        page.locator(DRIVEWAY).click()
        notice(page, "Used")
        assert page.locator("#gv-model input").input_value() == PHOTO_MODEL[0]
        yield page
        page.close()


def test_question_box_and_ask_are_hidden_for_a_model_without_answers(page):
    page.wait_for_selector("#gv-ask", state="hidden")
    assert not page.locator("#gv-question").is_visible()
    # The sentence that replaces the question box is one line high.
    assert page.locator(".gv-silent").first.bounding_box()["height"] < 30
    tab(page, "Export and API")
    page.click("#gv-code")
    page.wait_for_selector(".gv-code pre")
    assert "gleanvid.ask" not in page.locator(".gv-code").inner_text()
    tab(page, "Compare")
    page.wait_for_function(f"!{METHODS}.includes('FastV')")
    assert page.locator("#gv-methods").inner_text().count("FastV (") == 0
    for place in ("#gv-listing", "#gv-measured", "#gv-find"):
        assert not page.locator(place).is_visible(), place
    assert page.evaluate(METHODS)[0] == "GleanVID"
    tab(page, "Tokens")
