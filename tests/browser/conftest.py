"""A running app on a free port and a headless Chromium; skipped where there is no Chromium."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.browser.steps import answered, notice, says
from tests.components.fake import COLUMNS, ROWS, FakeBackend, write_clip

WINDOW = {"width": 1400, "height": 900}
# Longest wait in seconds; a slow machine may need a larger PATIENCE_S.
PATIENCE_S = float(os.environ.get("PATIENCE_S", "40"))
RERUNS = int(os.environ.get("RERUNS", "2"))
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


LEFT = ("AbortError: signal is aborted", "Unexpected error Connection errored out")


def pytest_collection_modifyitems(items):
    """Rerun a failed browser test at most ``RERUNS`` times; the test summary counts reruns."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=RERUNS))


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
    for name in ("broken.mp4", "notes.txt"):
        (folder / name).write_bytes(b"this is no video at all" * 50)
    return folder


@pytest.fixture(scope="session")
def library() -> FakeBackend:
    return FakeBackend(pause_s=0.02, words=8)


@pytest.fixture(scope="session")
def address(browser, clips, library):
    pytest.importorskip("gradio", reason="needs the app extra")
    from components.jobs.engine import Engine
    from components.jobs.examples import Example, examples
    from components.page.page import BUILT_IN_MODEL

    known = (("What moves?", "a square"), ("Where to?", "to the right"))
    square = Example(clips / "square.mp4", "Square", "What moves?", known)
    offered = [examples()[0], square]  # the page opens with the saved results of the first example
    engine = Engine(library)
    engine.answer_s = NoTimes()
    with served(engine, offered, [BUILT_IN_MODEL, ("Missing", "missing/model")]) as url:
        yield url


class NoTimes(dict):
    """Dict that stores no answer times: after a slow answer, live answers would be turned off."""

    def __setitem__(self, model, seconds):
        pass


@contextmanager
def served(engine, examples, models=None, choosing=None, **launch):
    from components.page.page import BUILT_IN_MODEL, build_app
    from components.server import serving

    page = build_app(engine, models or [BUILT_IN_MODEL], examples, choosing=choosing)
    options = serving.options("127.0.0.1", None, False) | launch
    serving.start(page, options | {"quiet": True})
    try:
        yield page.local_url.rstrip("/")
    finally:
        page.close()


@pytest.fixture(scope="session")
def window(browser):
    """A browser window whose tabs share a cache, so that scripts load once.

    One empty tab stays open, because a window without tabs closes and a new one takes a second.
    """
    opened = browser.new_context(viewport=WINDOW)
    opened.new_page()
    yield opened
    opened.close()


@pytest.fixture
def visit(window, address):
    """A new browser tab that shows the example "Square" with the answers of both sides."""
    page = opened(window, address)
    yield page
    page.close()


@pytest.fixture(scope="module")
def page(window, address):
    """A page like ``visit``, shared by the tests of a file and not reset between them."""
    page = opened(window, address)
    yield page
    assert page.errors == []
    page.close()


@pytest.fixture
def fresh(window):
    """An empty browser tab to open a link in; its console must stay free of errors."""
    page = listen(window)
    yield page
    assert page.errors == []
    page.close()


def opened_at(browser, address):
    page = listen(browser)
    page.goto(address)
    page.wait_for_selector(".gv-viewer[data-state=ready]")
    return page


def opened(browser, address):
    """Open the example "Square" in a browser or browser context, and wait for both answers."""
    page = listen(browser)
    try:
        page.goto(f"{address}/?clip=square.mp4")
        notice(page, "Used 32")
        says(page, f"of {ROWS * COLUMNS} tokens")
        answered(page)
    except Exception:
        page.close()  # an open page would slow down every later test
        raise
    return page


def listen(browser):
    """Open an empty page whose requests and console errors are recorded."""
    page = browser.new_page() if hasattr(browser, "pages") else browser.new_page(viewport=WINDOW)
    page.set_default_timeout(1000 * PATIENCE_S)
    page.requested, page.errors = [], []
    page.on("request", lambda request: page.requested.append(request.url))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda line: page.errors.append(line.text) if line.type == "error" else None)
    page.on("framenavigated", lambda _: forgive(page.errors))
    return page


def forgive(errors):
    """Remove the console errors that Gradio logs when a page is left with an open connection."""
    errors[:] = [text for text in errors if not text.startswith(LEFT)]
