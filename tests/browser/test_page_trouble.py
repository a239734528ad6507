"""The page under bad input, impatience and company: a message each time, and it goes on."""

from __future__ import annotations

from tests.browser.conftest import WINDOW, opened
from tests.browser.steps import ask, caption, notice


def test_the_words_of_strangers_stay_words(visit):
    text = "<img src=x onerror=alert(1)> ${1+1} **bold**"
    ask(visit, text)
    visit.wait_for_selector(".gv-cost")
    assert visit.locator(".gv-question").inner_text() == text
    assert visit.locator(".gv-answers img").count() == 0


def test_bad_input_gets_a_message_and_the_session_goes_on(visit, clips):
    ask(visit, "   ")
    notice(visit, "Type a question")
    visit.locator("#gv-clip").get_by_label("Clear").click()
    visit.wait_for_selector(".gv-viewer[data-state=empty]")
    ask(visit, "What?")
    notice(visit, "Choose a clip first")
    visit.locator("#gv-clip input[type=file]").set_input_files(str(clips / "broken.mp4"))
    notice(visit, "not a video that can be read")
    visit.get_by_role("button", name="Square").click()
    notice(visit, "Used 32")
    visit.get_by_label("Video LLM").click()
    visit.get_by_role("option", name="Missing").click()
    notice(visit, "Download it first")
    visit.get_by_label("Video LLM").click()
    visit.get_by_role("option", name="Built-in").click()
    notice(visit, "Used 32")
    ask(visit, "w" * 10_000)
    visit.wait_for_selector(".gv-cost")


def test_stop_ends_the_answer_and_frees_the_model(visit, library):
    library.words = 400
    library.closed.clear()
    try:
        ask(visit, "Tell me everything")
        visit.wait_for_function(
            "document.querySelector('.gv-answer')?.textContent.includes('word3')"
        )
        visit.locator("#gv-question textarea").press("Enter")  # a second one while it runs
        visit.get_by_text("Still at work for you. Stop it first, or wait.").wait_for()
        assert visit.is_disabled("#gv-ask") and visit.is_disabled("#gv-again")
        visit.click("#gv-stop")
        assert library.closed.wait(1.0)
        notice(visit, "Stopped")
        visit.wait_for_selector("#gv-stop[disabled]", state="attached")
        assert visit.locator(".gv-turn").count() == 1 and visit.is_enabled("#gv-ask")
    finally:
        library.words = 8
    ask(visit, "And again?")
    visit.wait_for_selector(".gv-turn:nth-child(2) .gv-cost")


def test_two_people_share_the_model_and_each_sees_his_own(visit, browser, address, library):
    other = opened(browser, address)
    library.words = 400
    try:
        ask(visit, "A long one")
        visit.wait_for_selector(".gv-running")
        ask(other, "Mine")
        notice(other, "1 person comes before you")
        library.words = 8
        visit.click("#gv-stop")
        other.wait_for_selector(".gv-cost")
        assert other.locator(".gv-question").inner_text() == "Mine"
        assert "Mine" not in visit.locator(".gv-answers").inner_text()
    finally:
        library.words = 8
        other.close()


def test_two_tabs_of_one_browser_do_not_disturb_each_other(browser, address, library):
    window = browser.new_context(viewport=WINDOW)
    one, two = opened(window, address), opened(window, address)
    before = caption(one)
    two.get_by_role("button", name="10%", exact=True).click()
    two.wait_for_selector("[data-pick=a] option:checked >> text=10 %", state="attached")
    assert one.get_by_label("range slider for Retention ratio").input_value() == "0.25"
    library.words = 400
    try:
        ask(one, "A long one")
        one.wait_for_selector(".gv-running")
        ask(two, "Mine")
        notice(two, "1 person comes before you")
        two.click("#gv-stop")
        notice(two, "Stopped")
        assert one.locator(".gv-running").count() == 1
        library.words = 8
        one.click("#gv-stop")
        notice(one, "Stopped")
    finally:
        library.words = 8
    ask(two, "And now?")
    two.wait_for_selector(".gv-cost >> text=GleanVID 10 %")
    assert "And now?" not in one.locator(".gv-answers").inner_text()
    assert caption(one) == before
    window.close()


def test_leaving_in_the_middle_frees_the_model(visit, library):
    library.words = 1000
    library.closed.clear()
    try:
        ask(visit, "Tell me everything")
        visit.wait_for_selector(".gv-running")
        visit.reload()
        assert library.closed.wait(5.0)
    finally:
        library.words = 8
    visit.wait_for_selector(".gv-viewer[data-state=ready]")
    assert visit.is_enabled("#gv-ask") and visit.locator(".gv-running").count() == 0
    visit.get_by_role("button", name="Square").click()
    notice(visit, "Used 32")
    ask(visit, "And now?")
    visit.wait_for_selector(".gv-cost >> nth=0")
    assert "And now?" in visit.locator(".gv-answers").inner_text()
