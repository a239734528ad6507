from __future__ import annotations


def test_tab_key_visits_controls_in_reading_order(visit):
    """The order is: tabs, model, clips, question, suggested questions, then the rest."""
    visit.click("#gv-header h1")  # the next Tab key press moves focus on from here
    stops = (
        "[role=tab]",
        "#gv-model input",
        ".gv-examples button",
        "#gv-question textarea",
        ".gv-chip",
    )
    found = []
    for _ in range(24):
        visit.keyboard.press("Tab")
        on = [
            stop
            for stop in stops
            if visit.evaluate("at => document.activeElement.matches(at)", stop)
        ]
        if on and on != found[-1:]:
            found += on
    assert tuple(found) == stops
    tops = [visit.locator(stop).first.bounding_box()["y"] for stop in stops]
    assert max(tops[:2]) < min(tops[2:4]) and max(tops[2:4]) < tops[4]
