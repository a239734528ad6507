from __future__ import annotations

import pytest

from tests.browser.conftest import opened_at
from tests.browser.steps import more, tab


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
