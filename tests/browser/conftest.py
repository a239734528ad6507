"""A running app on a free port and a headless Chromium; skipped where there is no Chromium."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.components.fake import COLUMNS, ROWS, Library, write_clip

WINDOW = {"width": 1400, "height": 900}
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    if chromium is None:
        pytest.skip("needs Chromium on the PATH")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def clips(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("clips")
    write_clip(folder / "square.mp4")
    (folder / "broken.mp4").write_bytes(b"this is no video at all" * 50)
    return folder


@pytest.fixture(scope="session")
def library() -> Library:
    return Library(pause_s=0.05, words=8)


@pytest.fixture(scope="session")
def address(browser, clips, library):
    pytest.importorskip("gradio", reason="needs the app extra")
    from components.panels.page import BUILT_IN_MODEL
    from components.session.engine import Engine
    from components.session.examples import Example

    examples = [Example(clips / "square.mp4", "Square", "What moves?")]
    with served(Engine(library), examples, [BUILT_IN_MODEL, ("Missing", "missing/model")]) as url:
        yield url


@contextmanager
def served(engine, examples, models=None, **launch):
    """The address of the app, while it runs."""
    import app
    from components.panels.page import BUILT_IN_MODEL
    from components.server import serving

    page = app.build_app(engine, models or [BUILT_IN_MODEL], examples)
    options = serving.options("127.0.0.1", None, False) | launch
    serving.start(page.queue(), options | {"quiet": True})
    try:
        yield page.local_url.rstrip("/")
    finally:
        page.close()


@pytest.fixture
def visit(browser, address):
    """A fresh page that shows the example."""
    page = opened(browser, address)
    yield page
    page.close()


def opened(browser, address):
    """A page that shows the example's tokens; ``browser`` may be a window with other tabs."""
    page = listen(browser)
    page.goto(address)
    page.get_by_role("button", name="Square").click()
    page.wait_for_function("document.querySelector('.gv-notice').textContent.startsWith('Used')")
    page.wait_for_function(
        "text => document.querySelector('.gv-caption').textContent.includes(text)",
        arg=f"of {ROWS * COLUMNS} tokens",
    )
    return page


def listen(browser):
    """An empty page whose requests and console errors are written down."""
    page = browser.new_page() if hasattr(browser, "pages") else browser.new_page(viewport=WINDOW)
    page.requested, page.errors = [], []
    page.on("request", lambda request: page.requested.append(request.url))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda line: page.errors.append(line.text) if line.type == "error" else None)
    return page
