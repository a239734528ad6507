from __future__ import annotations

import shutil
import subprocess

import pytest

from components.session.actions.first import RATIO
from components.session.examples import examples
from components.session.work.engine import Engine
from components.session.work.local import LocalBackend
from gleanvid import GleanVID, ask
from tests.browser.conftest import listen, served
from tests.browser.steps import answered, notice, reply, says, upload

# file name -> encoder; browsers cannot play these files, or only the sound of the first
UNPLAYABLE = {"hevc.mp4": "libx265", "old.avi": "mpeg4"}
FRAMES = 8


@pytest.fixture(scope="module")
def page(browser):
    with served(Engine(LocalBackend({})), examples()) as url:
        page = listen(browser)
        page.goto(url)
        yield page
        page.close()


def test_page_shows_the_same_answer_and_numbers_of_kept_tokens_as_the_library(page):
    page.wait_for_selector(".gv-viewer[data-state=ready]", timeout=10_000)
    example = examples()[1]
    page.locator(".gv-examples button").nth(1).click()
    notice(page, "Saved result")
    page.get_by_role("button", name="Ask", exact=True).click()
    notice(page, "Used")
    answered(page)
    for side, compressor in (("a", "full"), ("b", GleanVID(retention_ratio=RATIO))):
        run = ask(example.path, example.question, "builtin", compressor)
        assert reply(page, side).inner_text() == run.answer.strip()
        count = page.locator(f".gv-pane[data-side={side}] .gv-count").inner_text()
        assert count.startswith(f"{run.cost.visual_tokens_kept:,} tokens")
    page.focus(".gv-scrub")
    page.keyboard.press("Home")
    _, rows, columns = run.compression.grid
    says(page, f"B: {int(run.compression.budgets[0])} of {rows * columns} tokens kept")
    assert page.errors == []


@pytest.mark.parametrize("name", UNPLAYABLE)
def test_clip_that_browsers_cannot_play_is_still_shown(page, tmp_path, name):
    path = tmp_path / name
    if shutil.which("ffmpeg") is None:
        pytest.skip("needs ffmpeg")
    source = f"testsrc2=size=160x96:rate=8:duration={FRAMES / 8}"
    sound = f"sine=duration={FRAMES / 8}"
    wanted = ["-f", "lavfi", "-i", source, "-f", "lavfi", "-i", sound, "-c:v", UNPLAYABLE[name]]
    wanted += ["-tag:v", "hvc1"] if name == "hevc.mp4" else []
    wanted += ["-pix_fmt", "yuv420p"]
    made = subprocess.run(["ffmpeg", "-v", "error", *wanted, path], capture_output=True, text=True)
    if "Unknown encoder" in made.stderr:
        pytest.skip(f"this ffmpeg has no {UNPLAYABLE[name]}")
    assert made.returncode == 0, made.stderr
    upload(page, path)
    notice(page, f"Used {FRAMES} of {FRAMES} frames")
    says(page, f" of {FRAMES} · ")
    page.click("[data-act=video]")
    page.wait_for_selector("[data-act=video]:has-text('cannot be played')")
    page.locator(".gv-video").first.wait_for(state="hidden")
    assert page.locator(".gv-frame >> nth=0").evaluate("canvas => canvas.width") > 0
    page.get_by_role("button", name="A flash").click()
    notice(page, "Used 32")
    answered(page)
