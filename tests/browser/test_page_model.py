from __future__ import annotations

from contextlib import contextmanager

import pytest

from tests.browser.conftest import opened_at, served
from tests.browser.steps import notice, until
from tests.hub_fixtures import hub, published  # noqa: F401  (fixtures)
from tests.local_hub import Repository

NAME = "tiny/model"


@contextmanager
def serving(**how):
    from components.panels.page import BUILT_IN_MODEL
    from components.session.choice.choosing import Choosing
    from components.session.examples import examples
    from components.session.work.engine import Engine
    from components.session.work.local import BUILT_IN, LocalBackend

    engine = Engine(LocalBackend({BUILT_IN: {"device": "cpu"}}, {"device": "cpu"}))
    choosing = Choosing(engine, device="cpu", **how)
    with served(engine, examples(), [BUILT_IN_MODEL], choosing=choosing) as url:
        yield choosing, url


@pytest.fixture
def page(window, hub, published):  # noqa: F811
    hub.repositories["tiny/gated"] = Repository(published, gated=True)
    hub.repositories[NAME].pause_s = 0.02
    with serving() as (_, url):
        page = opened_at(window, url)
        page.get_by_role("button", name="Load a model").click()
        sentence_after_inspection(page, "")
        yield page
        page.close()


def choose(page, name):
    """Choose a model to load; return the sentence about its size and memory."""
    before = page.locator(".gv-outlook").inner_text()
    page.get_by_label("Checkpoint").fill(name)
    page.get_by_label("Checkpoint").press("Enter")
    return sentence_after_inspection(page, before)


def sentence_after_inspection(page, before):
    """Wait until the sentence about the chosen model has replaced ``before``; return it."""
    line = page.locator(".gv-outlook")
    until(page, lambda: line.inner_text() != before and "Looking up" not in line.inner_text())
    return line.inner_text()


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def says(page, text):
    until(page, lambda: text in page.locator(".gv-loading").inner_text())


def test_model_picker_refuses_an_unknown_model_cancels_a_download_and_loads_a_model(page):
    assert "accept its terms" in choose(page, "tiny/gated")
    press(page, "Load")
    says(page, "accept its terms")
    assert page.locator("#gv-model input").input_value() == "Built-in (tiny)"
    assert "There is no model no/such" in choose(page, "no/such")
    assert "0.9 MB to download" in choose(page, NAME)
    press(page, "Load")
    says(page, "Downloading")
    press(page, "Cancel")
    says(page, "Cancelled")
    press(page, "Load")
    says(page, f"{NAME} is ready")
    until(page, lambda: page.locator("#gv-model input").input_value() == NAME)
    notice(page, "Used 32")
    assert "of 64" in page.locator(".gv-status").inner_text()  # token counts of the new model
    assert page.errors == []
    page.reload()
    page.wait_for_selector(".gv-viewer[data-state=ready]")
    until(page, lambda: page.locator("#gv-model input").input_value() == NAME)
