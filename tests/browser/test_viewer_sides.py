from __future__ import annotations

import base64

import pytest
import torch

from components.session.answers import answer
from components.viewer.payload import pack
from gleanvid.types import Compression
from tests.browser.alone import open_alone
from tests.browser.steps import settle
from tests.browser.viewer_case import (  # noqa: F401  (fixtures)
    CELLS,
    LATE,
    MERGED,
    OTHER,
    PRUNED,
    Case,
    caption,
    choose,
    fresh_page,
    look_at,
    made_case,
    shared_tab,
)
from tests.components.fake import COLUMNS, ROWS, write_clip
from tests.components.made_up import made_up_run

LONG = "the square moves from the left to the right and then it stays where it is " * 12


def answered(page, *answers) -> None:
    page.evaluate("answers => change('answers', answers)", list(answers))
    settle(page)


def side(page, key: str):
    return page.locator(f"[data-side={key}] .gv-answered")


def test_answer_is_marked_right_or_wrong_if_the_right_answer_is_known(page):
    choose(page, a=PRUNED, b=OTHER)
    right = answer("A red square.", "0", expected="a red square")
    answered(page, right, answer("a blue square", "3", expected="a red square"))
    assert "✓ right" in side(page, "a").inner_text()
    assert "✗ wrong" in side(page, "b").inner_text()
    # words that differ are marked only if no right answer is known
    assert side(page, "b").locator("mark, del").count() == 0
    choose(page, a=OTHER, b=PRUNED)
    assert "✓ right" in side(page, "b").inner_text()


def test_words_of_b_that_differ_from_a_are_marked_if_no_right_answer_is_known(page):
    choose(page, a=PRUNED, b=OTHER)
    answered(page, answer("A red square moves right.", "0"), answer("a blue square moves", "3"))
    assert side(page, "b").locator("mark").all_inner_texts() == ["blue"]
    assert side(page, "b").locator("del").all_inner_texts() == ["red", "right"]
    assert "67 % words shared with A" in side(page, "b").inner_text()
    assert side(page, "a").locator("mark, del, .gv-verdict").count() == 0
    answered(page, answer("red", "0"), answer("Red!", "3"))
    assert "same as A" in side(page, "b").inner_text()


def test_answer_under_outdated_settings_is_greyed_and_can_be_asked_again(page):
    choose(page, a=PRUNED, b=OTHER)
    answered(page, answer("red", "0"), answer("blue", "gone", "b"))
    assert side(page, "b").get_attribute("data-stale") is not None
    assert side(page, "a").get_attribute("data-stale") is None
    side(page, "b").get_by_role("button", name="Ask again").click()
    assert page.evaluate("triggered.at(-1)") == ["ask", {"side": "b"}]
    answered(page, answer("red", "0"), answer("gre", None, "b", running=True))
    assert side(page, "b").get_attribute("data-stale") is None
    assert side(page, "b").get_attribute("data-running") is not None


@pytest.mark.parametrize("size", [(1400, 900), (390, 844)])
def test_long_answers_scroll_in_their_own_area_and_leave_the_timeline_visible(window, case, size):
    page = window.new_page()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    open_alone(page, case.packed)
    choose(page, a=PRUNED, b=OTHER)
    answered(page, answer("short", "0"), answer(LONG, "3"))
    settle(page)
    reply = side(page, "b").locator(".gv-reply")
    assert reply.evaluate("p => p.scrollHeight > 2 * p.clientHeight && p.tabIndex === 0")
    boxes = [page.locator(f"[data-side={key}] .gv-frame").bounding_box() for key in "ab"]
    assert boxes[0]["y"] == boxes[1]["y"] and boxes[0]["width"] == boxes[1]["width"]
    time = page.locator(".gv-time").bounding_box()
    assert time["y"] + time["height"] <= size[1]
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.close()


@pytest.mark.parametrize("size", [(1400, 900), (390, 844)])
def test_layout_does_not_move_while_answers_come_and_go(window, case, size):
    page = window.new_page()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    open_alone(page, case.packed)
    choose(page, a=PRUNED, b=OTHER)
    a, words = answer("red", "0"), answer("blue", "3", expected="blue")
    told = words | {"ttft_s": 0.25, "flops_saved": 0.9, "tokens_per_s": 31.0}
    running = answer("blue", None, "b", running=True)
    steps = [[a, b] for b in (running, words, told, told | {"stale": True})]
    if size[0] > 1000:  # on a phone, the answer may move the frames when it first appears
        steps.insert(0, [])
    places = []
    for step in steps:
        answered(page, *step)
        parts = ["[data-side=a] .gv-frame", "[data-side=b] .gv-frame", ".gv-time"]
        boxes = [page.locator(part).bounding_box() for part in parts]
        places.append([{key: round(value) for key, value in box.items()} for box in boxes])
    assert all(place == places[0] for place in places)
    below = side(page, "b").locator(".gv-below")
    assert below.locator("> :visible").count() == 1
    assert "other settings" in below.inner_text() and "first token" not in below.inner_text()
    page.close()


@pytest.mark.parametrize("size", [(1400, 900), (390, 844)])
def test_long_title_of_a_side_is_readable_and_does_not_shift_the_layout(window, case, size):
    page = window.new_page()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    label = "GleanVID 12 % · tau 2 · novelty history 3"
    methods = list(case.packed.value["methods"])
    methods[OTHER] = methods[OTHER] | {"label": label}
    open_alone(page, case.packed._replace(value=case.packed.value | {"methods": methods}))
    choose(page, a=PRUNED, b=MERGED)
    settle(page)
    before = page.locator("[data-side=b] .gv-frame").bounding_box()
    choose(page, b=OTHER)
    title = page.locator("[data-pick=b] .gv-title")
    title.filter(has_text=label).wait_for()
    settle(page)
    assert title.evaluate(
        """title => {
          const range = document.createRange();
          range.selectNodeContents(title);
          const [inner, outer] = [range.getBoundingClientRect(), title.getBoundingClientRect()];
          return inner.height <= outer.height + 1 && inner.width <= outer.width + 1;
        }"""
    )
    frames = [page.locator(f"[data-side={key}] .gv-frame").bounding_box() for key in "ab"]
    assert frames[1] == before and frames[0]["y"] == before["y"]
    title.evaluate("(title) => title.append(' · alpha min 0.1 · alpha max 0.3')")
    frames = [page.locator(f"[data-side={key}] .gv-frame").bounding_box() for key in "ab"]
    assert frames[0]["y"] == frames[1]["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.close()


def test_pinning_b_as_a_says_that_both_sides_are_equal_and_sends_one_event(page):
    choose(page, a=PRUNED, b=OTHER)
    for _ in range(2):
        page.get_by_role("button", name="Pin B as A").click(force=True)
        assert page.locator(".gv-moment").inner_text().startswith("A and B are both Random")
    assert page.evaluate("triggered.filter(([event]) => event === 'pin').length") == 1
    choose(page, a=PRUNED)
    assert "both" not in page.locator(".gv-moment").inner_text()
    assert page.get_attribute("[data-act=pin]", "aria-disabled") == "false"


def test_outlined_objects_are_named_and_their_kept_tokens_are_counted(page, case):
    choose(page, a=PRUNED, b=OTHER)
    left, top, right, bottom = case.packed.value["area"]
    rectangle = [
        left + 3 / COLUMNS * (right - left),
        top,
        left + 6 / COLUMNS * (right - left),
        top + 2 / ROWS * (bottom - top),
    ]
    page.evaluate(
        "truth => show({ ...props.value, truth })",
        {
            "label": "red",
            "question": "Which colour does the square have?",
            "names": ["red square"],
            "boxes": [[] if frame != 4 else [rectangle] for frame in range(8)],
        },
    )
    settle(page)
    shows = torch.zeros(4, ROWS, COLUMNS, dtype=torch.bool)
    shows[2, :2, 3:6] = True  # frame 4 belongs to unit 2
    for key, method in (("a", PRUNED), ("b", OTHER)):
        kept = int(case.runs[method].compression.mask[shows.flatten()].sum())
        words = page.locator(f"[data-side={key}] .gv-evidence span").first.inner_text()
        assert words == f"Kept {kept} of 6 tokens on the red square"
    legend, evidence = page.locator(".gv-legend"), page.locator("[data-side=b] .gv-evidence")
    assert "red square: the right answer rests on it" in legend.inner_text()
    page.click("[data-act=truth]")
    assert "red square" not in legend.inner_text() and "red square" in evidence.inner_text()
    page.click("[data-act=truth]")
    # objects are known only for the questions of the example
    type_question(page, "Which colour does the star have?")
    assert "red square" not in legend.inner_text() + evidence.inner_text()
    assert page.locator("[data-act=truth]").is_hidden()
    type_question(page, "Which colour does the square have?")
    assert "red square" in legend.inner_text() and "red square" in evidence.inner_text()


def type_question(page, text) -> None:
    page.evaluate(
        "text => document.dispatchEvent("
        "new CustomEvent('gleanvid:question', { detail: { text } }))",
        text,
    )
    settle(page)


def test_original_video_replaces_side_a_and_moves_with_the_same_time_cursor(page, tmp_path):
    write_clip(tmp_path / "clip.mp4")
    clip = base64.b64encode((tmp_path / "clip.mp4").read_bytes()).decode()
    page.evaluate(
        """clip => {
          const bytes = Uint8Array.from(atob(clip), (letter) => letter.charCodeAt(0));
          const url = URL.createObjectURL(new Blob([bytes], { type: "video/mp4" }));
          const seconds = props.value.seconds.map((second) => second / 2); // the clip lasts 1 s
          show({ ...props.value, seconds, video: { url } });
        }""",
        clip,
    )
    settle(page)
    look_at(page, 1)
    page.click("[data-act=video]")
    assert page.locator("[data-side=a] video").is_visible()
    assert page.locator("[data-side=a] canvas").is_hidden()
    look_at(page, 2)
    at = "document.querySelector('[data-side=a] video').currentTime"
    page.wait_for_function(f"Math.abs({at} - 0.5) < 0.1")  # the first frame of unit 3
    page.click(".gv-play")
    page.wait_for_function("document.querySelector('.gv-clock').textContent.includes('unit 4')")
    page.click("[data-act=video]")
    assert page.locator("[data-side=a] canvas").is_visible()
    assert page.errors == []


def test_sides_with_different_token_grids_each_use_their_own_grid(shared, case):
    coarse = (2, 3, 5)
    record = Compression.pruned(torch.arange(0, 30, 3), coarse)
    other = made_up_run(case.runs[0].video, record, "random")
    page = open_alone(shared, pack([case.runs[PRUNED], other], 0, 1, case.tokens))
    look_at(page, 1)
    kept = int(record.budgets[1])
    assert f"B: {kept} of 15 tokens kept" in caption(page)
    assert f" of {CELLS} tokens kept" in caption(page)
    assert page.is_disabled("input[value=ab]")
    page.hover("[data-side=b] .gv-frame", position={"x": 4, "y": 4})
    assert "row 1, column 1" in page.locator(".gv-card:not([hidden])").inner_text()
    assert page.errors == []


def test_sentence_names_the_unit_with_the_largest_budget_and_links_to_it(shared, case):
    grid, keep = (4, ROWS, COLUMNS), [range(20), range(112, 115), range(224, 233), range(336, 339)]
    places = torch.tensor([token for unit in keep for token in unit])
    run = made_up_run(case.runs[0].video, Compression.pruned(places, grid), "random")
    page = open_alone(shared, pack([run]))
    sentence = page.locator(".gv-moment").inner_text()
    assert sentence.startswith("Unit 3 keeps 9 of its 112 tokens, ")
    assert sentence.endswith("an even share would be 8.75.")
    assert "unit 3 of 4" in caption(page)  # the viewer opens at this unit
    look_at(page, 0)
    page.click(".gv-moment button")
    assert "unit 3 of 4" in caption(page)


def test_hovering_a_merged_token_outlines_the_tokens_of_its_group(page, case):
    choose(page, a=MERGED)
    record: Compression = case.runs[MERGED].compression
    token = int(((record.group >= 0) & ~record.mask).nonzero()[0])
    look_at(page, token // CELLS)
    pixels = """() => {
      const canvas = document.querySelector(".gv-frame");
      return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data
        .reduce((sum, level) => sum + level, 0);
    }"""
    before = page.evaluate(pixels)
    box = page.locator("[data-side=a] .gv-frame").bounding_box()
    row, column = divmod(token % CELLS, COLUMNS)
    at = {"x": (column + 0.5) / COLUMNS * box["width"], "y": (row + 0.5) / ROWS * box["height"]}
    page.hover("[data-side=a] .gv-frame", position=at)
    settle(page)
    assert page.evaluate(pixels) != before
    assert isinstance(case, Case)


def test_view_mentions_a_language_model_only_if_the_compressor_acts_inside_it(page):
    """The same views also show tokens of the photo encoder, which has no language model."""
    what = page.locator(".gv-what")
    choose(page, a=PRUNED, b=MERGED)
    for kind in ("kept", "groups", "ab", "heat"):
        page.check(f"input[value={kind}]", force=True)
        assert "model" not in what.inner_text()
    choose(page, a=LATE, b=LATE)
    page.check("input[value=kept]", force=True)
    assert "to layer 2 of the language model" in what.inner_text()
