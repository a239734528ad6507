"""Twelve common tasks, each with the maximum number of actions (clicks, drags) it may take.

On a desktop no task needs scrolling; on a phone the settings are below the frames.
"""

from __future__ import annotations

import pytest

from tests.browser.conftest import opened
from tests.browser.steps import answered, name, named, notice, reply, slider, tab, until, upload

DESK, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
TITLE = "document.querySelector('[data-pick=b] select').selectedOptions[0]"
STILL = "() => [scrollX, scrollY].every((pixels) => pixels === 0)"


class Hands:
    """Performs actions of a user on a page; counts the actions and the necessary scrolls."""

    def __init__(self, page) -> None:
        self.page, self.actions, self.scrolls = page, 0, 0

    def _reach(self, target) -> None:
        target.wait_for()
        box, window = target.bounding_box(), self.page.viewport_size
        if box["y"] < 0 or box["y"] + box["height"] > window["height"]:
            target.scroll_into_view_if_needed()
            self.scrolls += 1
        self.actions += 1

    def press(self, target) -> None:
        self._reach(target)
        target.click()

    def drag(self, target, share: float) -> None:
        """Drag a slider's handle to this fraction of its range."""
        self._reach(target)
        box = target.bounding_box()
        middle = box["y"] + box["height"] / 2
        self.page.mouse.move(box["x"] + 2, middle)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + share * box["width"], middle, steps=3)
        self.page.mouse.up()

    def choose(self, side: str, title: str) -> None:
        target = self.page.locator(f"[data-pick={side}] select")
        self._reach(target)
        target.select_option(label=title)

    def write(self, text: str) -> None:
        target = self.page.get_by_label("Question", exact=True)
        self._reach(target)
        target.fill(text)

    def upload(self, file) -> None:
        self._reach(self.page.get_by_role("button", name="Upload a clip"))
        upload(self.page, file)

    def tab(self, title: str) -> None:
        tabs = self.page.get_by_role("tab", name=title, exact=True)
        if not tabs.count():
            self.press(self.page.locator(".overflow-menu > button"))
            tabs = self.page.locator(".overflow-dropdown button", has_text=title)
        self.press(tabs)


def tau(hands, page, clips):
    before = {url for url in page.requested if url.endswith(".bin")}
    hands.drag(slider(page, "tau"), 0.8)
    page.wait_for_function(f"/tau/.test({TITLE}.textContent)")
    assert {url for url in page.requested if url.endswith(".bin")} > before  # new masks were loaded


def retention(hands, page, clips):
    hands.drag(slider(page, "Retention"), 0.5)
    page.wait_for_function(f"!{TITLE}.textContent.startsWith('GleanVID 10 %')")
    assert page.locator(".gv-pane[data-side=b] .gv-count").inner_text() != "179 tokens (10 %)"


def alpha(hands, page, clips):
    hands.drag(slider(page, "alpha max"), 0.05)
    page.wait_for_function(f"/alpha/.test({TITLE}.textContent)")


def another_method(hands, page, clips):
    hands.choose("b", "Run V-CAST")
    named(page, "b", "V-CAST 10 %")


def two_methods(hands, page, clips):
    hands.choose("a", "Run Uniform")
    named(page, "a", "Uniform 10 %")
    assert name(page, "b") == "GleanVID 10 %"


def where_they_differ(hands, page, clips):
    hands.choose("a", "Run V-CAST")
    named(page, "a", "V-CAST 10 %")
    hands.press(page.locator(".gv-moment button"))
    assert "differ most" in page.locator(".gv-moment button").inner_text()
    unit = page.locator(".gv-moment button").inner_text().partition("unit ")[2].split(":")[0]
    page.wait_for_function(
        "unit => document.querySelector('.gv-clock small').textContent.startsWith(`unit ${unit} `)",
        arg=unit,
    )


def ready_question(hands, page, clips):
    hands.press(page.locator(".gv-chip", has_text="Where to?"))
    until(page, lambda: page.get_by_label("Question", exact=True).input_value() == "Where to?")
    answered(page)


def own_clip(hands, page, clips):
    hands.upload(str(clips / "square.mp4"))
    notice(page, "Used 32")
    hands.write("What is this?")
    hands.press(page.locator("#gv-ask"))
    answered(page)
    assert reply(page, "b").inner_text().startswith("word0")


def all_methods(hands, page, clips):
    hands.tab("Compare")
    hands.press(page.locator("#gv-compare-start"))
    page.wait_for_selector(".gv-table tbody tr:nth-child(4).gv-done")


def curves(hands, page, clips):
    hands.tab("Curves")
    page.wait_for_selector("#gv-budget .main-svg")


def both_frames(hands, page, clips):
    hands.tab("Export and API")
    with page.expect_download() as waiting:
        hands.press(page.get_by_role("button", name="Current frame of A and B (PNG)"))
    assert waiting.value.suggested_filename == "frames.png"
    assert not page.get_by_role("button", name="Dismiss").is_visible()


def own_video(hands, page, clips):
    hands.press(page.locator("[data-act=video]"))
    page.wait_for_function("document.querySelector('.gv-video').readyState > 1")


# Tasks done in order on one page: (function, maximum of actions, maximum of scrolls on a phone)
VISITS = {
    "the clip": {
        "see the curves": (curves, 1, 0),
        "save both frames": (both_frames, 2, 1),
        "ask a ready question": (ready_question, 1, 0),
        "play the clip's own video": (own_video, 1, 1),
        "ask about a clip of one's own": (own_clip, 3, 0),
        "tau moves the masks": (tau, 1, 1),
        "retention moves the masks": (retention, 1, 1),
        "a bound of alpha moves the masks": (alpha, 1, 1),
    },
    "methods": {
        "compare with another method": (two_methods, 1, 0),
        "find where two methods differ most": (where_they_differ, 2, 2),
        "another method for B": (another_method, 1, 0),
        "compare all methods chosen": (all_methods, 2, 1),
    },
}


@pytest.fixture(params=[DESK, PHONE], ids=["desk", "phone"])
def screen(request, browser, address):
    window = browser.new_context(viewport=request.param)
    page = opened(window, address)
    yield page
    assert page.errors == []
    window.close()


@pytest.mark.parametrize("visit", VISITS)
def test_each_typical_task_needs_at_most_its_listed_number_of_actions(screen, clips, visit):
    is_phone = screen.viewport_size == PHONE
    for task, (do, actions, scrolls) in VISITS[visit].items():
        tab(screen, "Tokens")
        screen.evaluate("scrollTo(0, 0)")
        hands = Hands(screen)
        do(hands, screen, clips)
        # on a phone, the tabs of these tasks are in a menu, which takes one more action
        in_a_menu = int(is_phone and do in (all_methods, curves, both_frames))
        assert hands.actions <= actions + in_a_menu, task
        assert hands.scrolls <= (scrolls if is_phone else 0), task
        if not is_phone:
            assert screen.evaluate(STILL), task
