from tests.browser.steps import settle
from tests.browser.viewer.alone import value_of
from tests.browser.viewer.case import FRAME, MERGED, OTHER, PRUNED, caption, choose, look_at


def test_frames_tokens_and_views_are_chosen_with_keys(page):
    page.focus(FRAME)
    press = page.keyboard.press
    for key, frame in (("Home", 1), ("ArrowRight", 2), ("End", 8), ("ArrowLeft", 7)):
        press(key)
        assert caption(page).startswith(f"Frame {frame} of 8")
    press("Shift+ArrowRight")
    assert "row 5, column 9" in page.locator(".gv-card:not([hidden])").inner_text()
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
    choose(page, a=PRUNED, b=OTHER)
    press("5")  # the fifth view, as the view Groups is hidden
    assert page.is_checked("input[value=original]")
    assert page.errors == []


def test_viewer_shows_a_unit_chosen_elsewhere_and_sends_one_event_for_each_own_move(page):
    page.evaluate("heard.length = 0")
    look_at(page, 3)
    assert "unit 4 of 4" in caption(page)
    page.focus(".gv-scrub")
    page.keyboard.press("End")
    # Choose the current unit, then two units that do not exist: frame 8 stays in view.
    for unit in (3, 77, -1):
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


def test_new_result_keeps_the_current_unit_and_missing_data_gives_a_message(page, case):
    look_at(page, 3)
    page.check("input[value=original]", force=True)
    page.evaluate("(value) => show(value)", value_of(case.packed) | {"b": OTHER})
    page.wait_for_function("document.querySelector('.gv-caption').textContent.includes('only A')")
    assert "unit 4 of 4" in caption(page) and page.is_checked("input[value=original]")
    choose(page, b=MERGED)
    page.evaluate("(value) => show(value)", value_of(case.packed) | {"b": OTHER})
    # The same result was sent again, so B keeps the run chosen for it.
    assert page.input_value("[data-pick=b] select") == str(MERGED)
    gone = {"url": "http://viewer.test/gone.data"}
    page.evaluate("(value) => show(value)", value_of(case.packed) | {"data": gone})
    page.wait_for_selector(".gv-viewer[data-state=empty]")
    assert "no longer on the server" in page.locator(".gv-blank").inner_text()
    page.evaluate("show(null)")
    assert "appear here" in page.locator(".gv-blank").inner_text()
