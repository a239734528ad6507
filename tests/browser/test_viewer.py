"""The viewer in Chromium: what it shows is what the records say, by pointer, touch and keyboard."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch

from components.evidence import evidence
from components.viewer import Packed, pack
from gleanvid import COMPRESSORS, Video
from gleanvid.run import Run
from gleanvid.types import Compression, VideoTokens
from tests.browser.alone import open_alone, value_of
from tests.browser.bench_viewer import drag, stress
from tests.browser.test_page import PIXELS, settle
from tests.components.fake import COLUMNS, ROWS, Library, moving_square
from tests.components.made_up import made_up_run

CELLS = ROWS * COLUMNS
VIEWS = ["kept", "heat", "outline", "ab", "groups", "original"]
PRUNED, MERGED, LATE, OTHER = range(4)  # the methods on the page
AXE = """async () => (await axe.run("main")).violations.map(
  (found) => [found.id, found.nodes.map((node) => node.target.join(" "))])"""


class Case(NamedTuple):
    runs: list[Run]
    tokens: VideoTokens
    packed: Packed


@pytest.fixture(scope="module")
def case() -> Case:
    """GleanVID, a method that merges, one that acts inside the model, and a random one."""
    video, library = moving_square(8), Library()
    tokens = library.encode(video, library.load_model("builtin"))[0].tokens
    records = [COMPRESSORS[name]().compress(tokens) for name in ("gleanvid", "prunevid", "random")]
    inner = Compression.pruned(torch.arange(0, 40, 4), tokens.grid, num_tokens=40)
    late = {2: Compression.pruned(torch.arange(40), tokens.grid, num_tokens=len(tokens)), 5: inner}
    runs = [
        made_up_run(video, records[0], "gleanvid"),
        made_up_run(video, records[1], "prunevid"),
        made_up_run(video, late, "fastv"),
        made_up_run(video, records[2], "random"),
    ]
    return Case(runs, tokens, pack(runs, 0, None, tokens))


@pytest.fixture(scope="module")
def shared(browser):
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    yield page
    page.close()


@pytest.fixture
def page(shared, case):
    """The case afresh."""
    shared.unroute_all()
    return open_alone(shared, case.packed)


def caption(page) -> str:
    settle(page)
    return page.locator(".gv-caption").inner_text()


def choose(page, **pair) -> None:
    page.evaluate(
        "(detail) => document.dispatchEvent(new CustomEvent('gleanvid:pair', { detail }))", pair
    )


def look_at(page, unit: int) -> None:
    page.evaluate(
        "(unit) => document.dispatchEvent(new CustomEvent('gleanvid:unit', { detail: { unit } }))",
        unit,
    )
    settle(page)


def over(page, token: int) -> dict[str, float]:
    """The middle of a token of the unit on show, from the corner of the frame."""
    box = page.locator(".gv-frame").bounding_box()
    row, column = divmod(token % CELLS, COLUMNS)
    return {
        "x": (column + 0.5) / COLUMNS * box["width"],
        "y": (row + 0.5) / ROWS * box["height"],
    }


def test_views_differ_and_moving_about_asks_nothing_of_the_server(page):
    choose(page, a=MERGED, b=OTHER)
    page.focus(".gv-frame")
    before, seen = len(page.requested), {}
    for key, view in enumerate(VIEWS, start=1):
        page.keyboard.press(str(key))
        settle(page)
        assert page.is_checked(f"input[value={view}]")
        seen[view] = round(page.evaluate(PIXELS), 3)
    assert len(set(seen.values())) == len(VIEWS)
    words = caption(page)
    drag(page, ".gv-scrub", 20)()
    drag(page, ".gv-strength input", 20)()
    page.hover(".gv-frame", position={"x": 40, "y": 40})
    page.locator("[data-strip=rank] canvas").click(position={"x": 5, "y": 10})
    assert caption(page) != words
    assert page.requested[before:] == [] and page.errors == []


def test_a_token_under_the_pointer_tells_what_its_record_says(page, case):
    record = case.runs[PRUNED].compression
    look_at(page, 2)
    for token in (2 * CELLS, 2 * CELLS + 50, int(record.keep[record.keep >= 2 * CELLS][0])):
        page.hover(".gv-frame", position=over(page, token))
        card = page.locator(".gv-card").inner_text()
        assert ("Kept" in card) == bool(record.mask[token])
        row, column = divmod(token % CELLS, COLUMNS)
        assert f"row {row + 1}, column {column + 1} · 1.00 s" in card
        for label, name in (("joint score", "joint"), ("LRS", "lrs"), ("SCS", "scs")):
            shown = float(re.search(rf"{label} ([-\d.]+)", card)[1])
            assert shown == pytest.approx(float(record.scores[name][token]), rel=0.01, abs=1e-3)
        unit = record.scores["joint"][2 * CELLS : 3 * CELLS]
        place = 1 + int((unit > record.scores["joint"][token]).sum())
        told = int(re.search(r"rank (\d+) of 112", card)[1])
        assert abs(told - place) <= int((unit == record.scores["joint"][token]).sum())


def test_a_pinned_token_names_its_keepers_and_the_kept_tokens_like_it(page, case):
    token = 2 * CELLS + 37
    look_at(page, 2)
    page.click(".gv-frame", position=over(page, token))
    panel = page.locator(".gv-pin")
    assert "unit 3, row 3, column 10" in panel.inner_text()
    items = panel.locator("section").nth(1).locator("li").all_inner_texts()
    for run, item in zip(case.runs, items, strict=True):
        record = run.compression
        kept, merged = bool(record.mask[token]), record.merges and int(record.group[token]) >= 0
        assert ("Kept" in item) == (kept or run.compressor["name"] == "fastv")
        assert ("Merged" in item) == (merged and not kept)
    sketch = torch.from_numpy(evidence(case.tokens).sketch).double()
    cosines = torch.nn.functional.cosine_similarity(sketch, sketch[token][None])
    cosines[~case.runs[PRUNED].compression.mask] = -2
    cosines[token] = -2
    best = [float(found) for found in re.findall(r"≈ ([-\d.]+)", panel.inner_text())]
    assert best == pytest.approx(cosines.sort(descending=True).values[:3].tolist(), abs=0.006)
    panel.locator("section button").first.click()
    unit = int(re.search(r"unit (\d+)", panel.locator("section button").first.inner_text())[1])
    assert f"unit {unit} of 4" in caption(page)
    page.keyboard.press("Escape")
    assert panel.is_hidden()


def test_a_group_tells_its_members_and_where_its_row_stands(page, case):
    record = case.runs[MERGED].compression
    token = int(((record.group >= 0) & ~record.mask).nonzero()[0])
    choose(page, a=MERGED)
    look_at(page, token // CELLS)
    page.check("input[value=groups]", force=True)
    page.hover(".gv-frame", position=over(page, token))
    card = page.locator(".gv-card").inner_text()
    members = int((record.group == record.group[token]).sum())
    home = int(record.keep[record.group[token]])
    assert "Merged" in card and f"its row holds {members} token" in card
    row, column = divmod(home % CELLS, COLUMNS)
    assert f"row at unit {home // CELLS + 1}, row {row + 1}, column {column + 1}" in card


def test_a_and_b_are_counted_as_their_masks_say(page, case):
    choose(page, a=PRUNED, b=OTHER)
    look_at(page, 1)
    one, two = (case.runs[n].compression.mask[CELLS : 2 * CELLS] for n in (PRUNED, OTHER))
    both, either = int((one & two).sum()), int((one | two).sum())
    assert f"both {both}, only A {int(one.sum()) - both}, only B {int(two.sum()) - both}, " in (
        caption(page)
    )
    assert f"IoU {both / either:.2f}" in caption(page)
    budget = page.locator("[data-strip=budget]").inner_text()
    assert f"A {int(one.sum())} · B {int(two.sum())}" in budget
    assert f"uniform B/T = {case.runs[PRUNED].compression.num_kept / 4:.1f}" in budget


def test_a_method_inside_the_model_is_shown_layer_by_layer(page):
    choose(page, a=LATE)
    look_at(page, 0)
    kept = {}
    for layer in ("0", "2", "5"):
        page.select_option("[data-pick=layer] select", layer)
        kept[layer] = caption(page).split(" · ")[3]
    assert kept == {
        "0": "112 of 112 tokens kept",
        "2": "40 of 112 tokens kept",
        "5": "10 of 112 tokens kept",
    }


def test_everything_works_from_the_keyboard(page):
    page.focus(".gv-frame")
    press = page.keyboard.press
    for key, frame in (("Home", 1), ("ArrowRight", 2), ("End", 8), ("ArrowLeft", 7)):
        press(key)
        assert caption(page).startswith(f"Frame {frame} of 8")
    press("b")
    assert "only A" in caption(page)
    press("a")
    assert page.input_value("[data-pick=a] select") == "1"
    press("Shift+A")
    press("s")
    assert page.is_checked("input[value=heat]")
    assert page.input_value("[data-pick=score] select") == "lrs"
    press("-")
    assert page.input_value(".gv-strength input") == "75"
    press("Shift+ArrowRight")
    assert "row 5, column 9" in page.locator(".gv-card").inner_text()
    press("Enter")
    assert "row 5, column 9" in page.locator(".gv-pin").inner_text()
    page.wait_for_function("document.querySelector('.gv-live').textContent.includes('row 5')")
    press("Escape")
    assert page.locator(".gv-pin").is_hidden()
    press(" ")
    assert page.get_attribute(".gv-play", "aria-label") == "Pause"
    page.wait_for_function("!document.querySelector('.gv-caption').textContent.includes('Frame 7')")
    press(" ")
    assert page.get_attribute(".gv-play", "aria-label") == "Play"
    press("5")
    page.wait_for_function(
        "document.querySelector('.gv-live').textContent.includes('merges nothing')"
    )
    assert page.errors == []


def test_the_rest_of_the_page_moves_the_viewer_and_hears_of_it_once(page):
    page.evaluate("heard.length = 0")
    look_at(page, 3)
    assert "unit 4 of 4" in caption(page)
    page.focus(".gv-scrub")
    page.keyboard.press("End")
    for unit in (3, 77, -1):  # the unit on show, and none at all: the second frame of it stays
        look_at(page, unit)
        assert caption(page).startswith("Frame 8 of 8")
    page.keyboard.press("Home")
    settle(page)
    sent = [
        (name, detail["unit"])
        for name, detail in page.evaluate("heard")
        if detail.get("source") == "viewer"
    ]
    assert sent == [("gleanvid:unit", 3), ("gleanvid:unit", 0)]
    choose(page, a="Random", b="PruneVid")
    assert page.input_value("[data-pick=a] select") == str(OTHER)
    assert page.evaluate("heard.at(-1)[1]") == {"a": "Random", "b": "PruneVid", "source": "viewer"}


def test_new_settings_keep_the_place_and_a_lost_result_says_so(page, case):
    look_at(page, 3)
    page.check("input[value=outline]", force=True)
    page.evaluate("(value) => show(value)", value_of(case.packed) | {"b": OTHER})
    page.wait_for_function("document.querySelector('.gv-caption').textContent.includes('only A')")
    assert "unit 4 of 4" in caption(page) and page.is_checked("input[value=outline]")
    choose(page, b=MERGED)
    page.evaluate("(value) => show(value)", value_of(case.packed) | {"b": OTHER})
    assert page.input_value("[data-pick=b] select") == str(MERGED)  # nothing new: the choice stays
    gone = {"url": "http://viewer.test/gone.data"}
    page.evaluate("(value) => show(value)", value_of(case.packed) | {"data": gone})
    page.wait_for_selector(".gv-viewer[data-state=empty]")
    assert "no longer on the server" in page.locator(".gv-blank").inner_text()
    page.evaluate("show(null)")
    assert "appear here" in page.locator(".gv-blank").inner_text()


@pytest.mark.parametrize(
    ("size", "grid"), [((40, 40), (1, 1, 1)), ((90, 30), (3, 9, 2)), ((16, 200), (2, 1, 12))]
)
def test_small_tall_and_flat_clips_are_shown_whole(shared, size, grid):
    total = int(np.prod(grid))
    video = Video.from_frames(np.full((grid[0], *size, 3), 128, np.uint8))
    score = {"saliency": torch.rand(total)}
    run = made_up_run(video, Compression.pruned(torch.tensor([0]), grid, score), "<i>mine</i>")
    tokens = VideoTokens(torch.randn(total, 5), grid)
    shared.unroute_all()
    page = open_alone(shared, pack([run], tokens=tokens))
    assert caption(page).startswith(f"Frame {grid[0] // 2 + 1} of {grid[0]}")
    page.focus(".gv-frame")
    page.keyboard.press("Home")
    assert f"1 of {grid[1] * grid[2]} tokens kept" in caption(page)
    box = page.locator(".gv-frame").bounding_box()
    assert box["width"] / box["height"] == pytest.approx(size[1] / size[0], rel=0.05)
    page.click(".gv-frame", position={"x": 3, "y": 3})
    for key in "1236":
        page.keyboard.press(key)
        settle(page)
    assert "<i>mine</i>" in page.locator(".gv-what, .gv-pin").all_inner_texts()[1]
    assert page.errors == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_and_phones_need_no_sideways_scroll(browser, case, dark):
    axe = pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python")
    page = browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    open_alone(page, case.packed, dark=dark)
    choose(page, a=PRUNED, b=MERGED)
    at = over(page, 30)
    page.locator(".gv-frame").tap(position=at)
    assert "Pinned" in page.locator(".gv-pin").inner_text()
    page.keyboard.press("Shift+ArrowRight")
    assert page.locator(".gv-card").is_visible()
    page.add_script_tag(path=str(Path(axe.__file__).with_name("axe.min.js")))
    for width, view in ((390, "ab"), (1200, "heat")):
        page.set_viewport_size({"width": width, "height": 844})
        page.check(f"input[value={view}]", force=True)
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(AXE) == []
    page.close()


def test_a_frame_is_drawn_well_within_a_sixtieth_of_a_second(shared):
    shared.unroute_all()
    page = open_alone(shared, stress(units=16))
    page.evaluate("""() => {
      const asked = window.requestAnimationFrame.bind(window);
      window.costs = [];
      window.requestAnimationFrame = (act) => asked((now) => {
        const begun = performance.now();
        act(now);
        costs.push(performance.now() - begun);
      });
    }""")
    for view in ("kept", "ab"):
        page.check(f"input[value={view}]", force=True)
        drag(page, ".gv-scrub", 60)()
    costs = page.evaluate("costs")
    assert len(costs) > 20 and float(np.median(costs)) < 8.0
