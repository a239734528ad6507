"""Settings as hands change them: folds only opened, pairs that push, values that go back."""

from __future__ import annotations

import json

import pytest

from gleanvid import COMPRESSORS
from gleanvid.compressors.base import Compressor
from tests.browser.conftest import listen
from tests.browser.steps import ask, caption

QUESTION = "What moves?"


@pytest.fixture
def kept(monkeypatch):
    """The compressor of every question that reached the model, in order."""
    from components.session.engine import Engine

    seen, answer = [], Engine.answer

    def listened(*given):
        seen.append(next(item for item in given if isinstance(item, Compressor)))
        return answer(*given)

    monkeypatch.setattr(Engine, "answer", listened)
    return seen


def slider(page, name):
    return page.get_by_role("slider", name=name)


def answered(page, kept):
    """The method of a question that is asked now, once its answer is there."""
    before = len(kept)
    ask(page, QUESTION)
    for _ in range(200):
        if len(kept) > before and page.locator("#gv-stop").is_disabled():
            return kept[-1]
        page.wait_for_timeout(100)
    raise AssertionError("no answer")


def opened_on(browser, address, query):
    page = listen(browser)
    page.goto(f"{address}/?clip=square.mp4&{query}")
    # The masks of the link's settings may be there, and say so, before anyone reads of the link.
    page.wait_for_function("/link|^Used/.test(document.querySelector('.gv-notice')?.textContent)")
    return page


@pytest.mark.parametrize("name", COMPRESSORS)
def test_a_fold_that_is_only_opened_leaves_every_setting_as_declared(browser, address, kept, name):
    page = opened_on(browser, address, f"compressor={name}")
    fold = page.get_by_role("button", name="More settings")
    if fold.count():
        fold.first.click()
        page.wait_for_timeout(300)
    ask(page, QUESTION)
    page.wait_for_function("document.querySelector('.gv-notice').textContent.trim() !== ''")
    page.wait_for_function(
        "!/Starting|Encoding|Reading|link/.test(document.querySelector('.gv-notice').textContent)"
    )
    text = page.locator(".gv-notice").inner_text()
    assert not any(word in text for word in ("must be", "is empty", "went wrong"))
    assert kept[-1:] in ([COMPRESSORS[name]()], [])  # refused for want of a signal: nothing asked
    assert page.errors == []
    page.close()


def test_the_four_sliders_stand_in_the_open_under_their_names(visit):
    for name in ("Retention", "alpha min", "alpha max", "tau"):
        assert slider(visit, name).is_visible()
    assert not slider(visit, "Debias rank").is_visible()
    ends = [slider(visit, "tau").get_attribute(key) for key in ("min", "max", "step")]
    assert ends == ["0.5", "20", "0.5"]


def test_the_pair_pushes_and_never_crosses(visit):
    slider(visit, "alpha min").fill("0.8")
    visit.wait_for_function(
        "document.querySelector('input[aria-label=\"range slider for alpha max\"]').value === '0.8'"
    )
    slider(visit, "alpha max").fill("0.1")
    visit.wait_for_function(
        "document.querySelector('input[aria-label=\"range slider for alpha min\"]').value === '0.1'"
    )
    visit.wait_for_selector("p.gv-readout >> text=alpha")
    assert visit.locator("p.gv-refused").inner_text() == ""
    assert visit.errors == []


def test_a_number_beyond_the_range_is_clamped_and_the_picture_follows(visit):
    box = visit.get_by_label("number input for Retention ratio")
    box.fill("7")
    box.blur()
    visit.wait_for_function(
        "/(\\d+) of \\1 /.test(document.querySelector('.gv-caption').textContent)"
    )
    assert slider(visit, "Retention").input_value() == "1"


def test_changed_and_changed_back_asks_the_very_same_method(visit, kept):
    first = answered(visit, kept)
    for name in ("alpha min", "tau", "Retention"):
        slider(visit, name).focus()
        visit.keyboard.press("ArrowRight")
        visit.keyboard.press("ArrowLeft")
    assert answered(visit, kept) == first
    slider(visit, "tau").fill("12")
    visit.get_by_label("Reset to default value").nth(
        visit.evaluate(
            "[...document.querySelectorAll('input[type=range]')]"
            ".findIndex(item => item.ariaLabel.endsWith(' tau'))"
        )
    ).click()
    assert answered(visit, kept) == first


def test_a_history_is_all_until_its_switch_is_off_and_a_link_brings_it_back(browser, address, kept):
    page = opened_on(browser, address, "gleanvid.history=3&gleanvid.temperature=2")
    assert slider(page, "tau").input_value() == "2"
    page.get_by_role("button", name="More settings").click()
    assert slider(page, "Novelty history").input_value() == "3"
    switch = page.get_by_role("checkbox", name="all preceding units")
    assert not switch.is_checked()
    method = answered(page, kept)
    assert (method.novelty_history, method.tau) == (3, 2)
    switch.check()
    assert answered(page, kept).novelty_history is None
    page.close()


def test_a_link_shows_the_masks_it_names(browser, address):
    page = opened_on(browser, address, "retention_ratio=0.1")
    page.wait_for_function("/10 %/.test(document.querySelector('#gv-tokens').textContent)")
    assert json.loads(slider(page, "Retention").input_value()) == 0.1
    assert caption(page)
    page.close()
