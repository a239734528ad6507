import re
from urllib.parse import parse_qs, urlparse

import pytest

from tests.browser.steps import answered, named, slider, until
from tests.components.fake import COLUMNS, ROWS

FRAME = "[data-side=b] .gv-frame"
PER_UNIT = ROWS * COLUMNS
EDITED = "by_hand.keep"


@pytest.fixture(name="page")
def edited_page(fresh, address):
    """Page with the example "Square" at ratio 0.5, on which the tokens of B are being edited."""
    fresh.goto(f"{address}/?clip=square.mp4&retention_ratio=0.5")
    named(fresh, "b", "GleanVID 50 %")
    fresh.press(".gv-scrub", "Home")
    fresh.get_by_role("button", name="Edit B").click()
    fresh.get_by_role("group", name="Edit B").wait_for()
    yield fresh
    assert fresh.errors == []


def edited_tokens_in_address(page) -> set[int]:
    text = parse_qs(urlparse(page.url).query).get(EDITED, [""])[0]
    found = [list(map(int, part.split("-"))) for part in text.split()[1:]]
    return {token for ends in found for token in range(ends[0], ends[-1] + 1)}


def counted(page) -> int:
    return int(re.search(r"[\d,]+", page.locator(".gv-edit output").inner_text())[0])


def window_position_of(page, place: int) -> tuple[float, float]:
    """Return the window coordinates of the centre of a token."""
    box = page.locator(FRAME).bounding_box()
    row, column = divmod(place, COLUMNS)
    x, y = (column + 0.5) / COLUMNS, (row + 0.5) / ROWS
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def test_clicking_a_token_in_edit_mode_toggles_it_and_asks_with_the_edited_mask(page):
    budget = counted(page)
    page.mouse.click(*window_position_of(page, 7))
    until(page, lambda: edited_tokens_in_address(page))
    after, by_one = edited_tokens_in_address(page), counted(page) - budget
    assert abs(by_one) == 1 and len(after) == counted(page) and (7 in after) == (by_one > 0)
    page.wait_for_function(
        "document.querySelector('[data-pick=b] .gv-title').textContent.startsWith('Edited by hand')"
    )
    assert f"1 {'above' if by_one > 0 else 'below'} the budget of {budget}" in (
        page.locator(".gv-edit output").inner_text()
    )
    note = page.get_by_text("B is edited by hand.")
    assert note.is_visible()
    page.click("#gv-ask")
    answered(page)
    slider(page, "Retention").fill("0.3")  # changing a setting ends the edit
    named(page, "b", "GleanVID 30 %")
    until(page, lambda: EDITED not in page.url)
    assert page.get_by_role("group", name="Edit B").is_hidden() and note.is_hidden()


def test_rectangle_in_edit_mode_gives_all_its_tokens_the_inverted_state_of_its_first_token(page):
    page.get_by_role("checkbox", name="All units").check()
    places = [row * COLUMNS + column for row in (1, 2) for column in (2, 3, 4)]
    for _ in range(2):
        before = edited_tokens_in_address(page)
        page.mouse.move(*window_position_of(page, places[0]))
        page.mouse.down()
        page.mouse.move(*window_position_of(page, places[-1]), steps=4)
        assert page.locator(".gv-brush").is_visible()
        page.mouse.up()
        until(page, lambda before=before: edited_tokens_in_address(page) not in (set(), before))
        units = {token // PER_UNIT for token in edited_tokens_in_address(page)}
        inside = [
            unit * PER_UNIT + place in edited_tokens_in_address(page)
            for unit in units
            for place in places
        ]
        assert len(units) > 1 and len(set(inside)) == 1
        assert page.locator(".gv-brush").is_hidden()


def test_keyboard_toggles_tokens_undoes_the_change_and_leaves_edit_mode(page):
    press, budget = page.keyboard.press, counted(page)
    press("ArrowRight")
    press("Space")
    first = counted(page)
    press("ArrowDown")
    press("Enter")
    second = counted(page)
    assert abs(first - budget) == abs(second - first) == 1
    press("Control+z")
    assert counted(page) == first
    press("Control+z")
    assert counted(page) == budget
    until(page, lambda: EDITED not in page.url)
    press("Control+Shift+Z")
    assert counted(page) == first
    until(page, lambda: len(edited_tokens_in_address(page)) == first)
    press("Escape")
    assert page.get_by_role("group", name="Edit B").is_hidden()
    # Side B still shows the edited tokens, and the page's URL lists them.
    until(page, lambda: len(edited_tokens_in_address(page)) == first)
    page.reload()
    page.wait_for_function(
        "document.querySelector('[data-pick=b] .gv-title')?.textContent.startsWith('Edited by')"
    )
