"""The page with the built-in model and an example clip, end to end, as a person first meets it."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from components.session.display import NO_WORDS
from components.session.engine import Engine
from components.session.examples import examples
from gleanvid import GleanVID, ask, pipeline
from tests.browser.conftest import listen, served
from tests.browser.steps import notice

UNPLAYABLE = {"hevc.mkv": "libx265", "old.avi": "mpeg4"}  # by browsers; file: encoder
FRAMES = 8


@pytest.fixture(scope="module")
def page(browser):
    with served(Engine(pipeline), examples()) as url:
        page = listen(browser)
        page.goto(url)
        yield page
        page.close()


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


@pytest.mark.parametrize("name", UNPLAYABLE)
def test_a_clip_that_the_browser_cannot_play_is_shown_all_the_same(page, tmp_path, name):
    path = tmp_path / name
    if shutil.which("ffmpeg") is None:
        pytest.skip("needs ffmpeg")
    source = f"testsrc2=size=160x96:rate=8:duration={FRAMES / 8}"
    wanted = ["-f", "lavfi", "-i", source, "-c:v", UNPLAYABLE[name], "-pix_fmt", "yuv420p"]
    made = subprocess.run(["ffmpeg", "-v", "error", *wanted, path], capture_output=True, text=True)
    if "Unknown encoder" in made.stderr:
        pytest.skip(f"this ffmpeg has no {UNPLAYABLE[name]}")
    assert made.returncode == 0, made.stderr
    page.locator("#gv-clip").get_by_label("Clear").click()
    page.wait_for_selector(".gv-viewer[data-state=empty]")
    page.locator("#gv-clip input[type=file]").set_input_files(path)
    notice(page, f"Used {FRAMES} of {FRAMES} frames")
    page.wait_for_selector(".gv-viewer[data-state=ready]")
    page.wait_for_selector("#gv-clip[data-unplayed]")
    assert page.get_by_text("Video not playable").count() == 0
    assert f" of {FRAMES} · " in page.locator(".gv-caption").inner_text()
    assert page.locator(".gv-frame >> nth=0").evaluate("canvas => canvas.width") > 0
