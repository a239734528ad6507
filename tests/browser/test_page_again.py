import pytest

from tests.browser.steps import (
    answered,
    ask,
    name,
    named,
    notice,
    reply,
    slider,
    tab,
    until,
    upload,
)


def answered_methods(page) -> list[str]:
    return page.locator(".gv-tried td:nth-child(2)").all_text_contents()


@pytest.mark.slow  # components/page/test_restore.py shows it without a browser
def test_reload_restores_answers_only_in_the_same_browser_tab(visit, fresh, address, clips):
    upload(visit, str(clips / "square.mp4"))
    notice(visit, "Used 32")
    ask(visit, "What is this?")
    answered(visit)
    slider(visit, "tau").focus()
    visit.keyboard.press("ArrowRight")
    visit.wait_for_selector(".gv-pane[data-side=b] .gv-answered[data-stale]")
    visit.click("#gv-ask")
    answered(visit)
    before = name(visit, "b"), reply(visit, "b").inner_text(), answered_methods(visit)
    assert len(answered_methods(visit)) == 3
    visit.reload()
    named(visit, "b", before[0])
    answered(visit)
    assert (name(visit, "b"), reply(visit, "b").inner_text(), answered_methods(visit)) == before
    assert slider(visit, "tau").input_value() == "4.5"
    fresh.goto(address)
    fresh.wait_for_selector(".gv-viewer[data-state=ready]")
    assert "tau" not in " ".join(answered_methods(fresh))
    # The page was built before a model was loaded, so its status line is filled on load.
    fresh.wait_for_selector(".gv-status :text('builtin')")


def test_link_restores_settings_of_both_sides_question_and_view(visit, fresh):
    visit.select_option("[data-pick=a] select", "run:uniform")
    named(visit, "a", "Uniform 10 %")
    slider(visit, "tau").fill("12")
    slider(visit, "Retention").fill("0.2")
    named(visit, "b", "GleanVID 20 % · tau 12")
    visit.check("input[value=heat]", force=True)
    visit.get_by_label("Question", exact=True).fill("Where to?")
    parts = "['clip=square', 'a=', 'tau=12', 'ratio=0.2', 'question=Where', 'view=heat']"
    visit.wait_for_function(f"{parts}.every((part) => location.search.includes(part))")
    fresh.goto(visit.url)
    named(fresh, "b", "GleanVID 20 % · tau 12")
    assert name(fresh, "a") == "Uniform 10 %"
    assert fresh.is_checked("input[value=heat]")
    answered(fresh)
    assert fresh.get_by_label("Question", exact=True).input_value() == "Where to?"
    assert slider(fresh, "tau").input_value() == "12"
    assert fresh.locator(".gv-count").all_inner_texts() == [
        "179 tokens (9.99 %)",
        "358 tokens (20 %)",
    ]


def test_back_returns_to_the_clip_before_and_keeps_tab_and_settings(fresh, address):
    fresh.goto(address)
    fresh.get_by_role("button", name="Square", exact=True).click()
    notice(fresh, "Used 32")
    answered(fresh)
    tab(fresh, "Compare")
    fresh.wait_for_function("location.search.includes('tab=Compare')")
    slider(fresh, "tau").fill("12")
    fresh.wait_for_function("location.search.includes('tau=12')")
    first = fresh.locator(".gv-examples button").first
    fresh.evaluate(
        """() => {
          const viewer = document.querySelector(".gv-viewer");
          window.greyed = [];
          new MutationObserver(() => greyed.push(document.querySelector(".gv-pending").textContent))
            .observe(viewer, { attributeFilter: ["data-loading"] });
        }"""
    )
    fresh.go_back()
    fresh.wait_for_function("!location.search.includes('clip=square')")
    until(fresh, lambda: first.get_attribute("aria-current") == "true")
    assert fresh.evaluate("greyed[0]") == "Loading…"  # at once, before the clip is here
    fresh.wait_for_selector(".gv-viewer:not([data-loading])", state="attached")
    assert fresh.get_by_role("tab", selected=True).inner_text() == "Compare"
    assert slider(fresh, "tau").input_value() == "12" and "tau=12" in fresh.url
    fresh.go_forward()
    fresh.wait_for_function("location.search.includes('clip=square')")
    until(fresh, lambda: name(fresh, "b").endswith("· tau 12"))


def test_back_after_a_link_to_another_tab_returns_to_the_place_it_was_pressed(fresh, address):
    fresh.goto(address)
    fresh.get_by_role("button", name="How far to trust it").wait_for()
    steps = fresh.evaluate("history.length")
    for title in ("Compare", "Tokens"):  # the tab bar makes no steps
        tab(fresh, title)
    fresh.wait_for_function("!location.search.includes('tab=')")
    fresh.set_viewport_size({"width": 1400, "height": 400})
    fresh.get_by_role("button", name="How far to trust it").first.scroll_into_view_if_needed()
    place = fresh.evaluate("scrollY")
    fresh.get_by_role("button", name="How far to trust it").evaluate("link => link.click()")
    fresh.wait_for_function("location.search.includes('tab=About')")
    assert fresh.evaluate("history.length") == steps + 1 and place > 0
    fresh.go_back()
    fresh.wait_for_function("!location.search.includes('tab=')")
    assert fresh.get_by_role("tab", selected=True).inner_text() == "Tokens"
    fresh.wait_for_function("top => Math.abs(scrollY - top) < 2", arg=place, timeout=8000)
    fresh.go_forward()
    fresh.wait_for_function("location.search.includes('tab=About')")
