import pytest

from components.tokens import ask as asking
from tests.browser.steps import ask, named, slider, until

QUESTION = "What moves?"


@pytest.fixture
def asked(monkeypatch):
    """Return a list to which the compressor of every answered question is appended."""
    seen, original = [], asking.ask

    def watched(engine, session, request, *rest):
        yield from original(engine, session, request, *rest)
        seen.append(request.make_compressor())

    monkeypatch.setattr(asking, "ask", watched)
    return seen


def answered(page, asked):
    """Press Ask, wait for the answer, and return the compressor that was used."""
    before = len(asked)
    ask(page, QUESTION)
    until(page, lambda: len(asked) > before and page.locator("#gv-stop").is_disabled())
    return asked[-1]


def test_setting_moved_and_moved_back_gives_the_original_compressor(page, asked):
    first = answered(page, asked)
    for name in ("alpha min", "tau", "Retention"):
        slider(page, name).focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
    assert answered(page, asked) == first
    slider(page, "tau").fill("12")
    reset = "xpath=ancestor::*[.//button[@aria-label='Reset tau to its default']][1]//button"
    slider(page, "tau").locator(reset).click()
    assert answered(page, asked) == first
    slider(page, "tau").fill("12")
    method = page.get_by_role("combobox", name="Compressor", exact=True)
    for other in ("VidCom2", "GleanVID"):  # Gradio redraws the slider with its current value
        method.click()
        page.get_by_role("option", name=other, exact=True).click()
    slider(page, "tau").locator(reset).click()
    assert slider(page, "tau").input_value() == "4"
    assert answered(page, asked) == first


def test_after_many_quick_slider_moves_the_viewer_shows_the_last_value(page):
    share = slider(page, "Retention")
    for key in ("ArrowRight", "ArrowLeft", "ArrowRight"):
        share.focus()
        for _ in range(12):
            page.keyboard.press(key)
        percent = f"{100 * float(share.input_value()):.4g}"
        named(page, "b", f"GleanVID {percent} %")


def test_percentage_typed_as_a_ratio_is_read_as_one_and_said(page):
    box = page.get_by_role("spinbutton", name="Retention")
    box.fill("5")
    box.press("Enter")
    named(page, "b", "GleanVID 5 %")
    assert page.locator(".gv-own [role=status]").inner_text() == "Read as 5 %, a ratio of 0.05."
    box.press("Tab")
    assert box.input_value() == "0.05"


def test_alpha_min_and_alpha_max_sliders_push_each_other_and_never_cross(page):
    slider(page, "alpha min").fill("0.8")
    page.wait_for_function(
        "document.querySelector('input[aria-label=\"range slider for alpha max\"]').value === '0.8'"
    )
    page.wait_for_selector("p.gv-readout >> text=alpha max was moved too, to 0.8.")
    # alpha max goes back too, because alpha min had pushed it up
    slider(page, "alpha min").fill("0.2")
    page.wait_for_function(
        "document.querySelector('input[aria-label=\"range slider for alpha max\"]').value === '0.6'"
    )
    slider(page, "alpha max").fill("0.1")
    page.wait_for_function(
        "document.querySelector('input[aria-label=\"range slider for alpha min\"]').value === '0.1'"
    )
    assert page.locator("p.gv-refused").inner_text() == ""
