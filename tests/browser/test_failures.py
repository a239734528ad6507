from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.conftest import opened_at
from tests.browser.steps import answered, more, named, tab


@pytest.fixture
def page(window, address):
    """A new browser tab with the page as it opens, that is with the results of an example."""
    page = opened_at(window, address)
    yield page
    page.close()


def test_long_answer_is_shown_beside_a_square_frame_without_shrinking_it(page):
    frame = page.locator(".gv-pane[data-side=b] .gv-frame")
    before = frame.bounding_box()
    assert before["width"] == before["height"] > 300
    page.evaluate("document.querySelectorAll('.gv-reply')[1].textContent = 'word '.repeat(99)")
    page.set_viewport_size({"width": 1399, "height": 900})
    page.set_viewport_size({"width": 1400, "height": 900})
    bottom = before["y"] + before["height"]
    for part in (".gv-answered", ".gv-below", ".gv-evidence"):
        box = page.locator(f".gv-pane[data-side=b] {part}").bounding_box()
        assert box["x"] > before["x"] + before["width"] and box["y"] + box["height"] <= bottom + 1
    assert frame.bounding_box() == before
    cost = page.locator(".gv-pane[data-side=b] .gv-spent")
    assert "prefill FLOPs" in cost.inner_text()
    assert not cost.locator("b").count()  # only measured times are bold; this run has none
    sentence = page.locator(".gv-moment").bounding_box()
    assert sentence["y"] + sentence["height"] <= 900


def test_compare_table_begins_with_the_runs_that_the_viewer_holds(page):
    tab(page, "Compare")
    page.wait_for_selector(".gv-table tbody tr:nth-child(8)")
    assert "The table shows earlier runs" in page.inner_text(".gv-times")
    pressed = page.locator(".gv-side[aria-pressed=true]").evaluate_all(
        "buttons => buttons.map(({ dataset }) => [dataset.side, dataset.label])"
    )
    assert pressed == [["a", "All tokens"], ["b", "GleanVID 10 %"]]
    assert page.inner_text(".gv-where").split("Show")[0].split() == (
        ["In", "the", "viewer:", "A", "All", "tokens", "B", "GleanVID", "10", "%"]
    )


def test_wrong_answer_of_the_evaluation_can_be_opened_from_the_keyboard(page):
    page.get_by_role("button", name="Pin B as A").click()
    named(page, "a", "GleanVID 10 %")
    before = page.get_by_label("Question", exact=True).input_value()
    tab(page, "Compare")
    page.focus("#gv-failures summary")
    page.keyboard.press("Enter")
    page.wait_for_selector(".gv-failed li")
    page.get_by_label("Method", exact=True).select_option("uniform")
    page.locator(".gv-failed").get_by_label("Retention ratio").select_option("0.05")
    count = page.inner_text(".gv-failed output")
    assert page.locator(".gv-failed li").count() == int(count.split()[0])
    assert count.endswith("to 214 questions that all tokens answer right")
    first = page.locator(".gv-failed li button").first
    question = first.inner_text()
    first.focus()
    page.keyboard.press("Enter")
    named(page, "b", "Uniform 5 %")
    answered(page)
    assert page.get_by_role("tab", selected=True).inner_text() == "Tokens"
    assert page.get_by_label("Question", exact=True).input_value() == question
    right = page.locator(".gv-pane[data-side=b] .gv-verdict").inner_text()
    # The fake model answers wrongly, so the page adds which answer was expected.
    assert "expected" in right
    is_whole(page, question)
    # Side A shows the opened run with all tokens instead of the pinned settings.
    assert page.inner_text(".gv-pane[data-side=a] .gv-reply")
    page.reload()
    named(page, "b", "Uniform 5 %")
    answered(page)
    is_whole(page, question)
    link = page.url
    page.go_back()
    page.wait_for_selector("[role=tab][aria-selected=true]:text-is('Compare')")
    page.wait_for_selector("#gv-example-glimpse_1\\.mp4[aria-current]")
    assert page.get_by_label("Question", exact=True).input_value() == before != question
    named(page, "a", "GleanVID 10 %")
    page.go_forward()
    named(page, "b", "Uniform 5 %")
    is_whole(page, question)
    # A new history entry has no stored results: clip, question and runs come from the link.
    page.goto("about:blank")
    page.goto(link)
    named(page, "b", "Uniform 5 %")
    is_whole(page, question)


def is_whole(page, question):
    """Wait until the page and its URL have the clip, question and runs of a wrong answer."""
    named(page, "a", "All tokens")
    page.wait_for_selector(".gv-chip")
    page.wait_for_selector(".gv-shelf [aria-current]")
    assert page.inner_text("#gv-upload") == "Upload a clip"
    assert page.get_by_label("Question", exact=True).input_value() == question
    link = parse_qs(urlsplit(page.url).query)
    clip = page.get_attribute(".gv-shelf [aria-current]", "data-clip")
    assert link["clip"] == [clip.removeprefix("glimpse/")] and link["question"] == [question]
    assert link["compressor"] == ["uniform"] and "tab" not in link and "a" not in link


def test_settings_are_shown_only_on_tabs_that_use_them(page):
    for name, is_seen in (("About", False), ("Compare", True), ("Tokens", True)):
        tab(page, name)
        page.wait_for_function(
            "seen => document.querySelector('#gv-settings').checkVisibility() === seen", arg=is_seen
        )
    more(page)
    pixels = page.get_by_label("Pixels per frame", exact=True)
    # The arrow of the menu covers no text.
    assert pixels.evaluate("box => box.scrollWidth <= box.clientWidth")
