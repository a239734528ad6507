import pytest

from components.jobs.engine import Engine
from components.jobs.examples import examples
from components.jobs.local import LocalBackend
from components.jobs.request import NO_ANSWERS
from components.page.page import BUILT_IN_MODEL, PHOTO_MODEL
from tests.browser.conftest import listen, served
from tests.browser.steps import ask, notice, tab

METHODS = "[...document.querySelectorAll('#gv-methods label')].map((label) => label.innerText)"
FLASH, DRIVEWAY = (f"[id='gv-example-{name}.mp4']" for name in ("glimpse_1", "driveway"))


@pytest.fixture(scope="module")
def page(window):
    with served(Engine(LocalBackend({})), examples(), [BUILT_IN_MODEL, PHOTO_MODEL]) as url:
        page = listen(window)
        page.goto(f"{url}/?frames=8")
        page.wait_for_selector(".gv-viewer[data-state=ready]")
        page.locator(DRIVEWAY).click()
        notice(page, "Used")
        assert page.locator("#gv-model input").input_value() == PHOTO_MODEL[0]
        yield page
        page.close()


def test_filmed_clip_keeps_the_question_box_and_has_no_built_in_model_in_its_menu(page):
    page.locator("#gv-model input").click()
    (only,) = page.locator("#gv-model [role=option]").all_inner_texts()
    assert PHOTO_MODEL[0] in only
    page.keyboard.press("Escape")
    ask(page, "What is parked there?")
    notice(page, NO_ANSWERS)
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
