"""What stands on the page once methods have been compared, and what its controls do then."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.browser.conftest import opened
from tests.browser.steps import tab
from tests.components.fake import COLUMNS, ROWS

ROW = ".gv-table tbody tr"
METHODS = ["All tokens", "GleanVID 25 %", "VidCom2 25 %", "V-CAST 25 %", "VisionZip 25 %",
           "Uniform 25 %"]  # fmt: skip
FAILED = "VisionZip 25 %"  # the stand-in has no saliency
CURSOR = "document.querySelector('#gv-budget .gv-cursor').getBoundingClientRect().x"
WIDTH = "document.querySelector('#gv-budget .main-svg')?.clientWidth"


@pytest.fixture(scope="module")
def page(browser, address, library):
    """One page for all: a comparison whose later answers have two words more than the first."""
    page = opened(browser, address)
    tab(page, "Compare")
    page.click("#gv-compare-start")
    page.wait_for_selector(f"{ROW}.gv-done")
    page.at_first = page.locator(ROW).evaluate_all("rows => rows.map((row) => row.className)")
    library.words = 10
    page.wait_for_selector(f"{ROW}:nth-child(6).gv-done")
    library.words = 8
    page.wait_for_selector("#gv-compare-start:not([disabled])")
    yield page
    assert page.errors == []
    page.close()


def rows(page):
    texts = page.locator(f"{ROW} th").all_inner_texts()
    return [text.replace("\xa0", " ") for text in texts]  # no line ends between 25 and %


def test_rows_appear_one_by_one(page):
    assert page.at_first[0] == "gv-done" and page.at_first[-1] == "gv-waiting"
    assert rows(page) == METHODS


def test_every_column_is_seen_beside_the_open_settings(page):
    tab(page, "Compare")
    assert page.viewport_size == {"width": 1400, "height": 900}
    assert page.locator("#gv-settings.open").count() == 1
    hidden = "(place) => place.scrollWidth - place.clientWidth"
    assert page.locator(".gv-scroll").evaluate(hidden) == 0


def test_words_that_the_full_answer_has_not_are_marked(page):
    tab(page, "Compare")
    cards = page.locator(".gv-result")
    assert cards.first.locator("mark").count() == 0
    marked = " ".join(cards.last.locator("mark").all_inner_texts())
    assert marked.split() == ["word8", "word9"]


def test_a_row_is_put_into_the_viewer_by_a_click(page):
    tab(page, "Compare")
    page.locator(ROW, has_text="VidCom2").locator("td").last.click()
    page.locator(ROW, has_text="V-CAST").locator("[data-side=b]").click()
    for side, row in (("a", "VidCom2"), ("b", "V-CAST")):
        pressed = page.locator(f"{ROW} [data-side={side}][aria-pressed=true]")
        assert row in pressed.get_attribute("data-label")
        shown = page.locator(f"[data-pick={side}] select option:checked")
        assert shown.text_content() == f"{row} 25 %"


def test_cost_against_quality_stands_below_with_a_point_for_every_method(page):
    tab(page, "Compare")
    page.wait_for_selector("#gv-scatter .legendtext")
    names = page.locator("#gv-scatter .legendtext").all_text_contents()
    assert names == ["All tokens", "GleanVID", "VidCom2", "V-CAST", "Uniform"]
    assert page.locator("#gv-scatter .points path").count() == len(names)


def test_every_curve_is_drawn_and_follows_the_viewer(page):
    tab(page, "Tokens")
    page.focus(".gv-frame")
    page.keyboard.press("Home")
    tab(page, "Curves")
    page.wait_for_selector("#gv-mask_overlap .js-plotly-plot")
    plots = page.locator(".gv-plot .js-plotly-plot")
    assert plots.count() == 9 and all(plot.is_visible() for plot in plots.all())
    page.wait_for_selector("#gv-budget .gv-cursor")
    first = page.evaluate(CURSOR)
    tab(page, "Tokens")
    page.focus(".gv-frame")
    page.keyboard.press("End")
    tab(page, "Curves")
    page.wait_for_function(f"{CURSOR} > {first} + 100")


def test_curves_take_the_room_that_folded_settings_leave(page):
    tab(page, "Curves")
    beside = page.evaluate("document.querySelector('#gv-budget').clientWidth")
    for least, most in ((beside + 50, 900), (beside - 10, beside)):
        page.locator("#gv-settings button").first.click()
        page.wait_for_function(f"{WIDTH} > {least} && {WIDTH} <= {most}")


def is_picture(content: bytes) -> bool:
    with Image.open(io.BytesIO(content)) as picture:
        picture.load()
        return picture.format == "PNG" and min(picture.size) > 50


def has_masks(content: bytes) -> bool:
    arrays = np.load(io.BytesIO(content))
    masks = [name for name in arrays.files if name.endswith("/mask")]
    return len(masks) == 5 and all(arrays[name].shape[1:] == (ROWS, COLUMNS) for name in masks)


def has_metrics(content: bytes) -> bool:
    told = json.loads(content)
    return {entry["label"] for entry in told} == set(METHODS) - {FAILED}


FILES = {  # button: file name, whether it is what it says
    "Frame on show (PNG)": ("frame.png", is_picture),
    "Contact sheet (PNG)": ("contact-sheet.png", is_picture),
    "Overlay clip (MP4)": ("overlay.mp4", lambda content: content[4:8] == b"ftyp"),
    "Paper figure (PDF)": ("overlays.pdf", lambda content: content.startswith(b"%PDF-")),
    "Metrics (JSON)": ("metrics.json", has_metrics),
    "Masks (NPZ)": ("masks.npz", has_masks),
}


@pytest.mark.parametrize("button", FILES)
def test_a_file_is_saved_that_opens(page, button):
    name, is_right = FILES[button]
    tab(page, "Export and API")
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button).click()
    assert waiting.value.suggested_filename == name
    assert is_right(Path(waiting.value.path()).read_bytes())


@pytest.mark.parametrize("share", [50, 10, 25])
def test_a_preset_sets_the_ratio_and_shows_its_tokens(page, share):
    page.get_by_role("button", name=f"{share}%", exact=True).click()
    page.wait_for_function(
        "label => document.querySelector('[data-pick=a] option:checked').textContent === label",
        arg=f"GleanVID {share} %",
    )
    slider = page.get_by_label("range slider for Retention ratio")
    assert slider.input_value() == str(share / 100)


def test_one_click_compares_a_method_at_every_ratio(page, library):
    tab(page, "Compare")
    library.words = 1
    page.click("#gv-sweep")
    page.wait_for_selector(f"{ROW}:nth-child(7).gv-done")
    page.wait_for_selector("#gv-sweep:not([disabled])")
    library.words = 8
    shares = [f"GleanVID {share} %" for share in (5, 10, 15, 25, 50, 75)]
    assert rows(page) == ["All tokens", *shares]
