from __future__ import annotations

import re

import pytest
import torch

from components.session.display import unmeasured
from components.session.work.local import PHOTOS
from components.viewer.payload import pack
from gleanvid import COMPRESSORS
from gleanvid.types import Compression
from tests.browser.alone import open_alone
from tests.browser.conftest import opened_at
from tests.browser.steps import answered, ask, more, named, notice, quiet, reply, says, slider
from tests.components.fake import COLUMNS, ROWS, FakeBackend, moving_square
from tests.components.made_up import made_up_run

IN_SIGHT = """part => {  // whether its last letter can be seen
  scrollBy(0, part.getBoundingClientRect().top - 300);
  const { right, bottom } = part.getBoundingClientRect();
  return part.contains(document.elementFromPoint(right - 2, bottom - 4));
}"""
LINK = "?clip=glimpse_2.mp4&question=What+does+the+star+do%3F&gleanvid.tau=9&retention_ratio=0.2"


@pytest.fixture
def page(window, address):
    """A new browser tab with the page as it opens, that is with the results of an example."""
    page = opened_at(window, address)
    yield page
    page.close()


@pytest.mark.parametrize("size", [(1400, 900), (390, 844)])
def test_wrong_answer_is_shown_with_the_expected_answer(page, size):
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    page.get_by_role("button", name="What is there?").click()
    page.wait_for_selector(".gv-pane[data-side=b] .gv-wrong:has-text('green cross')")
    answered(page)
    pane = page.locator(".gv-pane[data-side=b]").bounding_box()
    words, verdict = reply(page, "b"), page.locator(".gv-pane[data-side=b] .gv-verdict")
    assert words.bounding_box()["width"] > 120
    for part in (words, verdict):
        box = part.bounding_box()
        assert box["x"] + box["width"] <= pane["x"] + pane["width"] + 1
    if size[0] > 640:  # an answer to the right of the frame
        page.locator(".gv-viewer").evaluate("found => found.toggleAttribute('data-next', true)")
        box = verdict.bounding_box()
        assert box["x"] + box["width"] <= pane["x"] + pane["width"] + 1
    assert verdict.evaluate("found => found.scrollWidth <= found.clientWidth")


def test_answers_stay_if_ask_is_pressed_right_after_typing_a_number(visit, library):
    """Leaving a number box starts a preview, whose request may arrive after the question."""
    more(visit)
    held = []
    visit.route("**/queue/join*", lambda route: route.continue_() if held else held.append(route))
    library.encode_s = 1.0
    try:
        visit.get_by_label("number input for Frames").fill("20")
        ask(visit, "What is this?")
        notice(visit, "Encoding 20")
        held[0].continue_()
        says(visit, "of 10 ·")
        answered(visit)
        quiet(visit)
    finally:
        library.encode_s = 0.0
    answered(visit, 5)


def test_enter_in_a_number_box_of_a_slider_applies_the_number(visit):
    more(visit)
    box = visit.get_by_label("number input for Frames")
    box.fill("12")
    box.press("Enter")
    says(visit, "of 6 ·")
    assert box.evaluate("box => box === document.activeElement")


def test_browser_back_and_forward_restore_the_results_of_each_page(page, address):
    answered(page)
    question = page.get_by_label("Question", exact=True)
    before = question.input_value(), reply(page, "b").inner_text()
    page.goto(f"{address}/{LINK}")
    named(page, "b", "GleanVID 20 % · tau 9")
    answered(page)
    page.go_back()
    page.wait_for_selector(".gv-viewer[data-state=ready]")
    named(page, "b", "GleanVID 10 %")
    answered(page)
    assert (question.input_value(), reply(page, "b").inner_text()) == before
    page.go_forward()
    named(page, "b", "GleanVID 20 % · tau 9")
    answered(page)
    assert question.input_value() == "What does the star do?"


BUDGETS = {  # tokens kept in each of four temporal units, sentence of the viewer about them
    (9, 1, 0, 0): "The first unit keeps 9 of its 112 tokens, each later one 0 or 1; "
    "an even share would be 2.5. No token is kept in 2 of 4 units.",
    (1, 0, 0, 0): "Every unit keeps 0 or 1 of its 112 tokens. No token is kept in 3 of 4 units.",
    (3, 3, 3, 3): "Every unit keeps 3 of its 112 tokens.",
    (9, 5, 0, 1): "Unit 2 keeps 5 of its 112 tokens, the most after the first unit, "
    "which keeps 9; an even share would be 3.75. No token is kept in 1 of 4 units.",
}


@pytest.mark.parametrize("budgets", BUDGETS)
def test_sentence_under_the_timeline_counts_units_that_keep_no_token(fresh, budgets):
    video = moving_square(8)
    tokens = FakeBackend().tokens(video)
    kept = [unit * ROWS * COLUMNS + n for unit, most in enumerate(budgets) for n in range(most)]
    record = Compression.pruned(torch.tensor(kept), tokens.grid, num_tokens=len(tokens))
    run = made_up_run(video, record, "gleanvid")
    open_alone(fresh, pack([run], 0, None, tokens))
    assert fresh.locator(".gv-moment").inner_text() == BUDGETS[budgets]


def test_hovering_a_bar_of_the_budget_strip_shows_the_unit_s_budgets_on_both_sides(visit):
    strip = visit.locator("[data-strip=budget] canvas")
    box = strip.bounding_box()
    strip.hover(position={"x": box["width"] * 1.5 / 16, "y": 20})
    assert re.fullmatch(r"Unit 2: \d+, A 112", strip.get_attribute("title"))


@pytest.mark.parametrize("width", [1400, 390])
def test_legends_of_sides_a_and_b_are_not_cut_off(page, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.check("input[value=ab]", force=True)
    entries = page.locator(".gv-legend li")
    assert {"both", "only A", "only B", "neither"} < set(entries.all_inner_texts())
    assert entries.last.evaluate(IN_SIGHT)


@pytest.mark.parametrize("width", [1400, 390])
def test_explanations_of_empty_views_are_not_cut_off(window, width):
    """The only run is of the photo encoder and has no scores, so three views are empty."""
    page = window.new_page()
    page.set_viewport_size({"width": width, "height": 844})
    video = moving_square(8)
    record = COMPRESSORS["uniform"]().compress(FakeBackend().tokens(video))
    packed = pack([made_up_run(video, record, "uniform")])
    open_alone(page, packed._replace(value={**packed.value, "unmeasured": unmeasured(PHOTOS)}))
    reasons = page.locator(".gv-legend li")
    assert len(reasons.all()) == 3
    assert all(reason.evaluate(IN_SIGHT) for reason in reasons.all())
    page.close()


WATCH_FRAMES = """() => {  // every size that a frame has from now on
  window.sizes = new Set();
  requestAnimationFrame(function next() {
    for (const canvas of document.querySelectorAll("canvas.gv-frame"))
      if (canvas.checkVisibility()) sizes.add(`${canvas.clientWidth} x ${canvas.clientHeight}`);
    requestAnimationFrame(next);
  });
}"""


@pytest.mark.parametrize("size", [(1400, 900), (390, 844)])
def test_frames_keep_their_size_before_during_and_after_answers_of_any_length(
    window, address, library, size
):
    page = window.new_page()
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    page.goto(address)
    page.get_by_role("button", name="Square", exact=True).click()
    notice(page, "Used 32")
    page.wait_for_timeout(500)
    page.evaluate(WATCH_FRAMES)
    words = library.words
    try:
        for library.words in (1, 40):
            ask(page, f"What is seen in {library.words} words?")
            answered(page)
    finally:
        library.words = words
    page.evaluate("document.querySelector('.gv-notice').textContent += ' and more'.repeat(30)")
    page.check("input[value=original]", force=True)
    page.wait_for_timeout(300)
    assert len(sizes := page.evaluate("[...sizes]")) == 1, sizes
    page.close()


def test_message_about_a_ratio_out_of_reach_has_a_button_that_sets_the_lowest_possible_ratio(page):
    page.locator("[data-pick=b] select").select_option("run:dycoke")
    offer = page.locator("#gv-under .gv-notice", has_text="out of reach").get_by_role("button")
    share = offer.first.inner_text().removeprefix("Use").replace("\xa0", " ").strip()
    assert 10 < int(share.split()[0]) < 100
    offer.first.press("Enter")
    named(page, "b", f"DyCoke {share}")
    assert 100 * float(slider(page, "Retention").input_value()) == int(share.split()[0])
