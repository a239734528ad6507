"""The page with the built-in model and an example clip, end to end, as a person first meets it."""

from __future__ import annotations

import pytest

from components import serving
from components.clip import examples
from components.engine import Engine
from components.talk import NO_WORDS
from gleanvid import GleanVID, ask, pipeline
from tests.browser.conftest import listen


@pytest.fixture
def page(browser):
    import app

    built = app.build_app(Engine(pipeline), examples=examples())
    options = serving.options("127.0.0.1", None, False)
    _, url, _ = built.queue().launch(**options, prevent_thread_lock=True, quiet=True)
    page = listen(browser)
    page.goto(url)
    yield page
    page.close()
    built.close()


def test_the_page_answers_as_the_library_does_and_shows_the_same_tokens(page):
    page.wait_for_selector(".gv-viewer[data-state=ready]", timeout=10_000)  # the saved result
    example = examples()[-1]
    page.locator(".gv-examples button").last.click()
    page.wait_for_function("document.querySelector('.gv-notice').textContent.startsWith('Used')")
    page.click("#gv-ask")
    page.wait_for_selector(".gv-cost")
    run = ask(example.path, example.question, "builtin", GleanVID())
    assert page.locator(".gv-answer").inner_text().strip() == (run.answer.strip() or NO_WORDS)
    kept = f"{run.cost.visual_tokens_kept:,} of {run.cost.visual_tokens:,}"
    assert kept in page.locator(".gv-cost").inner_text()
    page.focus(".gv-scrub")
    page.keyboard.press("Home")
    _, rows, columns = run.compression.grid
    first = f"{int(run.compression.budgets[0])} of {rows * columns} tokens kept"
    page.wait_for_function(
        "text => document.querySelector('.gv-caption').textContent.includes(text)", arg=first
    )
    assert page.errors == []
