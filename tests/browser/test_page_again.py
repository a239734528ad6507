"""What survives a reload and a link, and the clip beside its tokens."""

from __future__ import annotations

from tests.browser.conftest import listen
from tests.browser.steps import ask, caption, notice, tab

UNIT = "text => document.querySelector('.gv-caption').textContent.includes(text)"


def test_a_reload_loses_no_answer_and_shows_them_to_nobody_else(visit, browser, address, clips):
    visit.locator("#gv-clip").get_by_label("Clear").click()
    visit.locator("#gv-clip input[type=file]").set_input_files(str(clips / "square.mp4"))
    notice(visit, "Used 32")
    ask(visit, "First?")
    visit.wait_for_selector(".gv-cost")
    ask(visit, "Second?")
    visit.wait_for_selector(".gv-turn:nth-child(2) .gv-cost")
    answers, words = visit.locator(".gv-answers").inner_text(), caption(visit)
    visit.reload()
    notice(visit, "as they were before")
    assert visit.locator(".gv-answers").inner_text() == answers
    visit.wait_for_function(UNIT, arg=words)
    tab(visit, "Curves")
    visit.wait_for_selector("#gv-budget .legendtext")
    tab(visit, "Tokens")
    ask(visit, "Third?")
    visit.wait_for_selector(".gv-turn:nth-child(3) .gv-cost")
    visit.reload()
    notice(visit, "as they were before")
    assert visit.locator(".gv-question").all_inner_texts() == ["First?", "Second?", "Third?"]
    other = listen(browser)
    other.goto(address)
    other.wait_for_selector(".gv-viewer[data-state=ready]")
    assert "First?" not in other.locator(".gv-answers").inner_text()
    other.close()


def test_the_status_is_of_now_when_the_page_is_loaded(visit, browser, address):
    """The model was loaded after the page was built."""
    other = listen(browser)
    other.goto(address)
    other.wait_for_selector(".gv-status :text('Model')")
    other.close()


def test_a_link_holds_the_comparison_and_the_tab(visit, browser):
    tab(visit, "Compare")
    visit.get_by_label("VisionZip", exact=True).uncheck()
    visit.get_by_label("10%", exact=True).check()
    for part in ("tab=Compare", "methods=", "ratios="):
        visit.wait_for_function("part => location.search.includes(part)", arg=part)
    other = listen(browser)
    other.goto(visit.url)
    other.wait_for_selector("#gv-compare-start")
    other.get_by_label("10%", exact=True).and_(other.locator(":checked")).wait_for()
    assert not other.get_by_label("VisionZip", exact=True).is_checked()
    assert other.get_by_role("tab", name="Compare").get_attribute("aria-selected") == "true"
    assert other.errors == []
    other.close()


def test_the_address_can_be_copied(visit):
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.wait_for_function("location.search.includes('question=')")
    visit.click("#gv-copy")
    visit.wait_for_selector("#gv-copy:has-text('Link copied')")
    assert visit.evaluate("navigator.clipboard.readText()") == visit.url
    visit.wait_for_selector("#gv-copy:has-text('Copy link to')")


def test_the_clip_and_its_tokens_show_the_same_moment(visit):
    seconds = "document.querySelector('#gv-clip video').currentTime"
    box = visit.get_by_label("number input for Frames")
    box.fill("4")  # as many as fit into the second that the clip lasts
    box.press("Enter")
    box.blur()
    visit.wait_for_function(UNIT, arg="unit 2 of 2")
    visit.focus(".gv-scrub")
    visit.keyboard.press("Home")
    visit.wait_for_function(UNIT, arg="unit 1 of 2")
    visit.wait_for_function("document.querySelector('#gv-clip video').readyState > 1")
    requests = len(visit.requested)
    visit.keyboard.press("End")
    visit.wait_for_function(UNIT, arg="unit 2 of 2")
    visit.wait_for_function(f"{seconds} === 0.75")
    visit.evaluate(f"{seconds} = 0.3")
    visit.wait_for_function(UNIT, arg="unit 1 of 2")
    visit.wait_for_timeout(200)  # for what may answer
    assert visit.evaluate(seconds) == 0.3 and "unit 1 of 2" in caption(visit)
    visit.evaluate("document.querySelector('#gv-clip video').play()")
    visit.wait_for_function(UNIT, arg="unit 2 of 2")
    asked = [url for url in visit.requested[requests:] if "/queue/join" in url or "/run/" in url]
    assert asked == [] and visit.errors == []
