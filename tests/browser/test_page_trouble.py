import pytest

from tests.browser.conftest import opened
from tests.browser.steps import answered, ask, caption, name, named, notice, reply, slider

RUNNING = ".gv-pane[data-side=b] .gv-answered[data-running]"


def test_unreadable_file_or_empty_question_gets_a_message_and_the_page_stays_usable(visit, clips):
    ask(visit, "   ")
    notice(visit, "Type a question")
    before = name(visit, "b"), reply(visit, "b").inner_text(), caption(visit)
    for bad in ("broken.mp4", "notes.txt"):
        visit.set_input_files(".gv-examples input[type=file]", clips / bad)
        notice(visit, f"{bad} is not a video that can be read")
        assert (name(visit, "b"), reply(visit, "b").inner_text(), caption(visit)) == before
    ask(visit, "What moves?")
    answered(visit)
    visit.get_by_role("combobox", name="Model").click()
    visit.get_by_role("option", name="Missing").click()
    notice(visit, "Download it first")
    assert "previous settings" in visit.locator(".gv-pending").inner_text()
    visit.get_by_role("combobox", name="Model").click()
    visit.get_by_role("option", name="Built-in").click()
    notice(visit, "Used 32")


def test_stop_button_ends_the_answer_and_frees_the_model(visit, library):
    library.words = 3000  # an answer of one minute: even a slow browser can press Stop
    library.closed.clear()
    try:
        ask(visit, "Tell me everything")
        visit.wait_for_selector(f"{RUNNING} >> text=word3")
        visit.locator("#gv-question textarea").press("Enter")
        visit.get_by_text(
            "An earlier task of this page is still running. Stop it first, or wait."
        ).wait_for()
        assert visit.is_disabled("#gv-ask")
        visit.click("#gv-stop")
        assert library.closed.wait(20)
        notice(visit, "Stopped")
        visit.wait_for_selector("#gv-stop[disabled]", state="attached")
        assert visit.is_enabled("#gv-ask") and visit.locator(RUNNING).count() == 0
        # The words shown before Stop was pressed are still there.
        assert "word3" in reply(visit, "b").inner_text()
    finally:
        library.words = 8
    ask(visit, "And again?")
    answered(visit)


@pytest.mark.slow  # tests of the queue, previews and questions show the same of two sessions
def test_two_browser_tabs_keep_separate_clips_and_answers(visit, window, address, library):
    one, two = visit, opened(window, address)
    before = caption(one)
    slider(two, "Retention").fill("0.2")
    named(two, "b", "GleanVID 20 %")
    answered(two)
    assert slider(one, "Retention").input_value() == "0.1"
    library.words = 3000  # an answer of one minute: even a slow browser can press Stop
    try:
        ask(one, "A long one")
        one.wait_for_selector(RUNNING)
        ask(two, "Mine")
        notice(two, "1 request comes before this one")
        two.click("#gv-stop")
        notice(two, "Stopped")
        assert one.locator(RUNNING).count() == 1
        library.words = 8
        one.click("#gv-stop")
        notice(one, "Stopped")
    finally:
        library.words = 8
    ask(two, "And now?")
    answered(two)
    assert (name(one, "b"), name(two, "b")) == ("GleanVID 10 %", "GleanVID 20 %")
    assert caption(one) == before
    two.close()
