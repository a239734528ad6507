"""What the tabs begin with: runs that are there, wrong answers to open, settings where they act."""

from __future__ import annotations

from tests.browser.conftest import opened_at
from tests.browser.steps import answered, named, tab


def test_compare_begins_with_the_runs_of_the_viewer(window, address):
    page = opened_at(window, address)
    tab(page, "Compare")
    page.wait_for_selector(".gv-table tbody tr:nth-child(8)")
    assert "there already" in page.inner_text(".gv-times")
    pressed = page.locator(".gv-side[aria-pressed=true]").evaluate_all(
        "buttons => buttons.map(({ dataset }) => [dataset.side, dataset.label])"
    )
    assert pressed == [["a", "All tokens"], ["b", "GleanVID 10 %"]]
    assert page.inner_text(".gv-where").split("Show")[0].split() == (
        ["In", "the", "viewer:", "A", "All", "tokens", "B", "GleanVID", "10", "%"]
    )
    page.close()


def test_a_wrong_answer_of_the_evaluation_is_opened_by_the_keyboard(window, address):
    page = opened_at(window, address)
    tab(page, "Compare")
    page.focus("#gv-failures summary")
    page.keyboard.press("Enter")
    page.wait_for_selector(".gv-failed li")
    page.get_by_label("Method", exact=True).select_option("uniform")
    page.locator(".gv-failed").get_by_label("Retention ratio").select_option("0.05")
    assert page.locator(".gv-failed li").count() == int(
        page.inner_text(".gv-failed output").split()[0]
    )
    first = page.locator(".gv-failed li button").first
    question = first.inner_text()
    first.focus()
    page.keyboard.press("Enter")
    named(page, "b", "Uniform 5 %")
    answered(page)
    assert page.get_by_role("tab", selected=True).inner_text() == "Tokens"
    assert page.get_by_label("Question", exact=True).input_value() == question
    right = page.locator(".gv-pane[data-side=b] .gv-verdict").inner_text()
    assert "expected" in right  # the stand-in's words are wrong, and the truth is known
    page.close()


def test_settings_stand_beside_the_tabs_they_act_on(window, address):
    page = opened_at(window, address)
    for name, is_seen in (("About", False), ("Compare", True), ("Check", False), ("Tokens", True)):
        tab(page, name)
        page.wait_for_function(
            "seen => document.querySelector('#gv-settings').checkVisibility() === seen", arg=is_seen
        )
    page.close()
