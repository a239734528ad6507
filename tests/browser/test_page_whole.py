"""The page as a whole: local, open to everybody, and quiet on the server."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser.steps import settle, tab

AXE = """async () => (await axe.run(document, { rules: { "color-contrast": { enabled: true } } }))
  .violations.flatMap((found) => found.nodes.map((node) => [found.id, node.target.join(" ")]))
  .filter(([, place]) => /gv-/.test(place))"""


def test_every_tab_is_local_accessible_and_fits_a_phone(visit):
    """No request elsewhere, no error, nothing for axe to say of our parts, no sideways scroll."""
    axe = pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python")
    tab(visit, "Compare")
    visit.click("#gv-compare-start")
    visit.wait_for_selector(".gv-table tr:nth-child(6).gv-done")
    visit.wait_for_selector("#gv-compare-start:not([disabled])")
    visit.add_script_tag(path=str(Path(axe.__file__).with_name("axe.min.js")))
    for dark in (False, True):
        visit.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
        for name in ("Compare", "Curves", "Export and API", "About", "Tokens"):
            tab(visit, name)
            if name == "Curves":
                visit.wait_for_selector("#gv-budget .legendtext")
            settle(visit)
            assert visit.evaluate(AXE) == [], (name, dark)
    visit.set_viewport_size({"width": 390, "height": 844})
    settle(visit)
    assert visit.evaluate("document.documentElement.scrollWidth") <= 390
    hosts = {urlsplit(url).hostname for url in visit.requested if url.startswith("http")}
    assert hosts == {"127.0.0.1"}
    assert visit.errors == []


def test_the_running_server_gives_away_no_file_and_fetches_none(visit, address):
    def status(path: str, **headers: str) -> int:
        return visit.request.get(address + path, headers=headers).status

    assert status("/") == status("/healthz") == 200
    assert status("/", origin="http://evil.example") == 403
    assert status("/gradio_api/file=http://127.0.0.1:1/x") == 403
    for secret in ("/etc/passwd", "app.py", "gleanvid/__init__.py", "../app.py"):
        assert status(f"/gradio_api/file={secret}") in (403, 404)
    assert status("/docs") == 404
    assert status("/gradio_api/monitoring/summary") in (403, 404)


def test_opening_the_page_asks_nothing_of_the_model(browser, address, library):
    before = (library.reads, library.encodes)
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector("#gv-clip video", state="attached")
    page.wait_for_timeout(1000)  # long enough for a stray event to reach the server
    assert not page.locator(".gv-notice").first.inner_text().startswith(("Reading", "Used"))
    assert (library.reads, library.encodes) == before
    page.close()
