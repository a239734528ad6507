import re

import pytest

from gleanvid.metrics import debiased, effective_rank_so_far
from tests.browser.steps import settle
from tests.browser.viewer.case import (
    CELLS,
    FRAME,
    LATE,
    MERGED,
    OTHER,
    PRUNED,
    VIEWS,
    caption,
    choose,
    look_at,
    over,
)
from tests.components.fake import COLUMNS

PIXELS = """() => {
  const canvas = document.querySelector(".gv-frame");
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let sum = 0;
  for (let i = 0; i < data.length; i += 4) sum += data[i] + data[i + 1] + data[i + 2];
  return sum / (data.length / 4);
}"""

LONGEST = """(value, width) => {
  value.closest(".gv-viewer").dataset.width = width;
  value.innerHTML = "0.21 %<small>A 0.0052 %</small>";
  return value.scrollWidth - value.clientWidth;
}"""  # pixels by which a long value sticks out of its column


def test_views_of_the_viewer_differ_and_moving_through_frames_sends_no_request(page):
    choose(page, a=MERGED, b=PRUNED)
    page.focus(FRAME)
    before, seen = len(page.requested), {}
    for key, view in enumerate(VIEWS, start=1):
        page.keyboard.press(str(key))
        settle(page)
        assert page.is_checked(f"input[value={view}]")
        seen[view] = round(page.evaluate(PIXELS), 3)
    assert len(set(seen.values())) == len(VIEWS)
    page.keyboard.press("1")
    words = caption(page)
    page.press(".gv-scrub", "End")
    page.press(".gv-strength input", "Home")
    page.hover(FRAME, position={"x": 40, "y": 40})
    page.locator("[data-strip=rank] canvas").click(position={"x": 5, "y": 10})
    assert caption(page) != words
    assert page.requested[before:] == [] and page.errors == []


def test_hovering_a_token_shows_its_scores_rank_and_whether_it_was_kept(page, case):
    record = case.runs[PRUNED].compression
    look_at(page, 2)
    for token in (2 * CELLS, 2 * CELLS + 50, int(record.keep[record.keep >= 2 * CELLS][0])):
        page.hover(FRAME, position=over(page, token))
        card = page.locator(".gv-card:not([hidden])").inner_text()
        assert ("Kept" in card) == bool(record.mask[token])
        row, column = divmod(token % CELLS, COLUMNS)
        assert f"row {row + 1}, column {column + 1} · 1.00 s" in card
        for label, name in (("joint score", "joint"), ("LRS", "lrs"), ("SCS", "scs")):
            shown = float(re.search(rf"{label} ([-\d.]+)", card)[1])
            assert shown == pytest.approx(float(record.scores[name][token]), rel=0.01, abs=1e-3)
        unit = record.scores["joint"][2 * CELLS : 3 * CELLS]
        place = 1 + int((unit > record.scores["joint"][token]).sum())
        told = int(re.search(r"(?:Kept|Dropped): ([\d,]+)(?:st|nd|rd|th)", card)[1])
        assert abs(told - place) <= int((unit == record.scores["joint"][token]).sum())


def test_pinned_token_names_runs_that_keep_it(page, case):
    token = 2 * CELLS + 37
    look_at(page, 2)
    page.click(FRAME, position=over(page, token))
    panel = page.locator(".gv-pin")
    assert "unit 3, row 3, column 10" in panel.inner_text()
    items = panel.locator("section").nth(1).locator("li").all_inner_texts()
    for run, item in zip(case.runs, items, strict=True):
        record = run.compression
        kept, merged = bool(record.mask[token]), record.merges and int(record.group[token]) >= 0
        assert ("Kept" in item) == (kept or run.compressor["name"] == "fastv")
        assert ("Merged" in item) == (merged and not kept)
    page.keyboard.press("Escape")
    assert panel.is_hidden()


def test_view_that_compares_a_and_b_counts_tokens_kept_by_both_or_by_one_side(page, case):
    choose(page, a=PRUNED, b=OTHER)
    look_at(page, 1)
    one, two = (case.runs[n].compression.mask[CELLS : 2 * CELLS] for n in (PRUNED, OTHER))
    both, either = int((one & two).sum()), int((one | two).sum())
    assert f"both {both}, only A {int(one.sum()) - both}, only B {int(two.sum()) - both}, " in (
        caption(page)
    )
    assert f"IoU {both / either:.2f}" in caption(page)
    budget = page.locator("[data-strip=budget]").inner_text()
    assert [int(two.sum()), int(one.sum())] == [int(n) for n in re.findall(r"\d+", budget)[-2:]]
    tip = page.locator("[data-strip=budget] .gv-note").get_attribute("title")
    assert f"B/T, an even share: {case.runs[OTHER].compression.num_kept / 4:.1f}" in tip


def test_strips_share_one_axis_in_seconds_one_cursor_and_one_zoom(page, case):
    choose(page, a=PRUNED, b=OTHER)
    look_at(page, 1)
    page.get_by_role("button", name="PruneVid", exact=True).click()
    rank = page.locator("[data-strip=rank] canvas")
    place = {"x": 34 + 0.7 * (rank.bounding_box()["width"] - 34), "y": 9}  # unit 3 of 4
    rank.hover(position=place)
    read = page.locator(".gv-read:not([hidden])")
    start = float(case.packed.value["seconds"][4])
    second, told = read.locator("div").first.inner_text().split(" s, ")
    assert told == "unit 3 of 4" and start <= float(second) < 2 * start
    heads = ["Tokens kept", "Novelty", "Effective rank", "Residual energy"]
    assert read.locator("thead th").all_inner_texts() == heads
    rows = [row.split("\t") for row in read.locator("tbody tr").all_inner_texts()]
    assert [row[0] for row in rows] == ["A", "B", "PruneVid"]
    for row, method in zip(rows, (PRUNED, OTHER, MERGED), strict=True):
        assert int(row[1]) == int(case.runs[method].compression.budgets[2])
        ranks = effective_rank_so_far(debiased(case.tokens.features), case.runs[method].compression)
        assert float(row[3]) == pytest.approx(float(ranks[2]), abs=0.06)
    page.mouse.move(0, 0)
    assert read.count() == 0
    ticks = page.locator(".gv-ticks span")
    assert ticks.all_inner_texts()[0] == "0 s"
    page.focus(FRAME)
    page.keyboard.press("+")  # around the frame: unit 2 stays in view, the first one leaves it
    settle(page)
    assert "0 s" not in ticks.all_inner_texts()
    rank.click(position={"x": 36, "y": 9})
    assert caption(page).startswith("Frame 2 of 8")  # the first one is out of view
    page.keyboard.press("Home")  # the axis follows the cursor
    settle(page)
    assert ticks.all_inner_texts()[0] == "0 s"
    page.get_by_role("button", name="Zoom out").click()
    settle(page)
    assert page.is_disabled("[data-zoom=out]")
    for width in ("wide", "narrow"):
        assert page.locator(".gv-row output").last.evaluate(LONGEST, width) <= 0


def test_compressor_inside_the_language_model_is_shown_layer_by_layer(page):
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
