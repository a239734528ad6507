"""The viewer exported as one HTML file opens offline and never runs its texts as code."""

from contextlib import contextmanager
from dataclasses import replace

import pytest

from components.export.take_away import web_page
from tests.browser.steps import settle
from tests.browser.viewer.case import made_case, shared_tab  # noqa: F401
from tools import demo

QUESTION = "</script><img src=x onerror=alert(1)> $modules what moves?"
# Number of different colour values in the frame of side A.
LIT = """() => { const { width, height } = document.querySelector("[data-side=a] .gv-frame");
  const pixels = document.querySelector("[data-side=a] .gv-frame").getContext("2d");
  return new Set(pixels.getImageData(0, 0, width, height).data).size; }"""


@pytest.fixture
def page(browser, case, tmp_path):
    runs = [replace(run, question=QUESTION, answer=QUESTION) for run in case.runs[:3]]
    video = replace(runs[0].video, name=f"{QUESTION}.mp4")
    text = web_page([replace(run, video=video) for run in runs], case.tokens)
    with offline(browser, tmp_path, text) as page:
        yield page


@contextmanager
def offline(browser, tmp_path, text):
    (tmp_path / "run.html").write_text(text, encoding="utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.requested, page.errors = [], []
    page.on("request", lambda request: page.requested.append(request.url))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda line: page.errors.append(line.text))
    page.goto((tmp_path / "run.html").as_uri())
    page.wait_for_selector(".gv-viewer[data-state=ready]")
    yield page
    context.close()


def test_exported_web_page_shows_frames_and_units_and_never_runs_markup_in_texts(page, tmp_path):
    assert page.evaluate(LIT) > 20
    before = page.locator(".gv-clock").inner_text()
    page.locator(".gv-scrub").press("End")
    settle(page)
    assert page.locator(".gv-clock").inner_text() != before
    page.locator("[data-act=swap]").click()
    assert page.locator("h1").inner_text() == QUESTION
    assert "compressors of visual tokens leave this clip" in page.inner_text("main")
    assert QUESTION in page.locator("[data-side=a] .gv-reply").inner_text()
    assert page.locator("img").count() == 0 and page.errors == []
    elsewhere = [url for url in page.requested if not url.startswith("data:")]
    assert elsewhere == [(tmp_path / "run.html").as_uri()]


def test_demo_changes_ratio_and_clip_without_a_server_and_keeps_the_methods_shown(
    browser, tmp_path, monkeypatch
):
    monkeypatch.setattr(demo, "METHODS", ("gleanvid", "uniform"))
    monkeypatch.setattr(demo, "FRAMES", dict.fromkeys(demo.FRAMES, 4))
    text = demo.demo(("glimpse_1.mp4", "driveway.mp4"), ratios=(0.1, 0.5))
    with offline(browser, tmp_path, text) as page:
        titled = "t => document.querySelector('[data-pick=b] .gv-title').textContent.startsWith(t)"
        page.wait_for_function(titled, arg="GleanVID 10 %")
        assert page.locator("[data-side=b] .gv-reply").inner_text()
        page.locator("[data-pick=b] select").select_option(label="Uniform 10 %")
        page.get_by_role("slider", name="Tokens kept").press("End")
        page.wait_for_function(titled, arg="Uniform 50 %")
        page.locator(".gv-demo button").last.click()
        page.wait_for_function("document.body.hasAttribute('data-silent')")
        page.wait_for_function("document.querySelector('.gv-frame').width > 100")
        assert page.errors == []
