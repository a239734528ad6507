"""HTML in texts of visitors and files is displayed as plain text everywhere on the page."""

import pytest

from tests.browser.conftest import listen, served
from tests.browser.steps import answered, ask, notice, reply
from tests.components.fake import FakeBackend, write_clip

MARKUP = "<img src=x onerror=window.caught=1>"


@pytest.fixture(scope="module")
def library():
    library = FakeBackend(words=3)
    library.word = f"{MARKUP}${{window.caught=1}}"
    return library


@pytest.fixture(scope="module")
def address(browser, library, tmp_path_factory):
    from components.jobs.engine import Engine
    from components.jobs.examples import Example, examples

    path = tmp_path_factory.mktemp("marked") / "clip.mp4"
    write_clip(path)
    example = Example(path, "Marked", MARKUP, ((MARKUP, MARKUP),))
    with served(Engine(library), [examples()[0], example]) as url:
        yield url


@pytest.fixture(scope="module")
def page(window, address):
    page = listen(window)
    page.goto(address)
    page.get_by_role("button", name="Marked").click()
    notice(page, "Used 32")
    answered(page)
    yield page
    page.close()


@pytest.fixture
def visit(page):
    yield page
    assert page.locator("img[src=x]").count() == 0
    assert page.evaluate("window.caught") is None


def test_markup_in_answers_and_suggested_questions_is_shown_as_text(visit, library):
    assert visit.locator(".gv-chip").first.inner_text() == MARKUP
    assert visit.get_by_label("Question", exact=True).input_value() == MARKUP
    for side in "ab":
        assert reply(visit, side).inner_text().startswith(library.word)
    verdict = visit.locator(".gv-wrong").first
    assert verdict.inner_text() == f"✗ wrong, expected: {MARKUP}"
    visit.locator(".gv-tried summary").click()
    assert library.word in visit.locator(".gv-tried td").nth(3).inner_text()
    ask(visit, "Another?")  # without a right answer, B is compared with A word by word
    answered(visit)
    assert reply(visit, "b").inner_text().startswith(library.word)
