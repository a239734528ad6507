from __future__ import annotations

from tests.browser.steps import answered, ask, more, name, notice, tab


def test_stopped_comparison_keeps_its_finished_rows_usable(visit, library):
    tab(visit, "Compare")
    visit.click("#gv-compare-start")
    visit.wait_for_selector(".gv-table tr.gv-done ~ :is(.gv-running, .gv-waiting)")
    library.words = 3000  # an answer of one minute: even a slow browser can press Stop
    library.closed.clear()
    try:
        visit.wait_for_selector(".gv-table tr.gv-running")
        assert visit.get_by_role("button", name="Stop", exact=True).count() == 1
        visit.click("#gv-compare-stop")
        assert library.closed.wait(20)
        visit.wait_for_selector("#gv-compare-start:not([disabled])")
    finally:
        library.words = 8
    visit.locator(".gv-notice", has_text="rows done. Used 32").wait_for()
    done = visit.locator(".gv-table tr.gv-done").count()
    visit.locator(".gv-notice", has_text=f"Stopped: {done} of 6 rows done.").wait_for()
    assert done and visit.locator(".gv-table tbody tr:not(.gv-done)").count() == 0
    assert visit.locator(".gv-table [data-side=a]").count() == done
    visit.get_by_label("Show All tokens as A in the viewer").click()
    tab(visit, "Tokens")
    assert name(visit, "a") == "All tokens"
    ask(visit, "And now?")
    answered(visit)
    assert visit.errors == []


def test_preview_ends_at_stop_and_when_a_newer_setting_arrives(visit, library):
    def frames(count: int) -> None:
        box = visit.get_by_label("number input for Frames")
        box.fill(str(count))
        box.press("Enter")
        box.blur()

    more(visit)
    library.encode_s = 60
    try:
        frames(12)
        notice(visit, "Encoding 12 frames")
        assert "Encoding 12" in visit.locator(".gv-pending").inner_text()
        visit.wait_for_selector("#gv-stop:not([disabled])")
        visit.click("#gv-stop")
        notice(visit, "Stopped.")
        visit.wait_for_selector("#gv-stop[disabled]", state="attached")
        frames(14)
        notice(visit, "Encoding 14 frames")
        library.encode_s = 0
        frames(16)
        notice(visit, "Used 16")
    finally:
        library.encode_s = 0
    answered(visit)
    assert "Used 16" in visit.locator(".gv-notice").first.inner_text()
