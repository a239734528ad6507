import av
import numpy as np
import pytest

from components.jobs.engine import Engine
from components.jobs.examples import examples
from components.jobs.local import LocalBackend
from components.jobs.request import FIRST_RATIO as RATIO
from gleanvid import GleanVID, ask
from tests.browser.conftest import listen, served
from tests.browser.steps import answered, notice, reply, says, upload

FRAMES = 8


@pytest.fixture(scope="module")
def page(browser):
    with served(Engine(LocalBackend({})), examples()) as url:
        page = listen(browser)
        page.goto(f"{url}/?clip={examples()[1].path.name}&frames={FRAMES}")
        yield page
        page.close()


def test_page_shows_the_same_answer_and_numbers_of_kept_tokens_as_the_library(page):
    page.wait_for_selector(".gv-viewer[data-state=ready]", timeout=10_000)
    example = examples()[1]
    notice(page, f"Used {FRAMES}")
    page.get_by_role("button", name="Ask", exact=True).click()
    notice(page, "Used")
    answered(page)
    for side, compressor in (("a", "full"), ("b", GleanVID(retention_ratio=RATIO))):
        run = ask(example.path, example.question, "builtin", compressor, num_frames=FRAMES)
        assert reply(page, side).inner_text() == run.answer.strip()
        count = page.locator(f".gv-pane[data-side={side}] .gv-count").inner_text()
        assert count.startswith(f"{run.cost.visual_tokens_kept:,} tokens")
    page.focus(".gv-scrub")
    page.keyboard.press("Home")
    _, rows, columns = run.compression.grid
    says(page, f"B: {int(run.compression.budgets[0])} of {rows * columns} tokens kept")
    assert page.errors == []


def test_clip_that_browsers_cannot_play_is_still_shown(page, tmp_path):
    with av.open(tmp_path / "old.avi", "w") as file:
        stream = file.add_stream("mpeg4", rate=FRAMES)
        stream.width, stream.height, stream.pix_fmt = 160, 96, "yuv420p"
        for level in range(FRAMES):
            frame = np.full((96, 160, 3), 20 * level, np.uint8)
            file.mux(stream.encode(av.VideoFrame.from_ndarray(frame)))
        file.mux(stream.encode())
    upload(page, tmp_path / "old.avi")
    notice(page, f"Used {FRAMES} of {FRAMES} frames")
    says(page, f" of {FRAMES} · ")
    page.click("[data-act=video]")
    page.wait_for_selector("[data-act=video]:has-text('cannot be played')")
    page.locator(".gv-video").first.wait_for(state="hidden")
    assert page.locator(".gv-frame >> nth=0").evaluate("canvas => canvas.width") > 0
