from contextlib import contextmanager

import pytest

from tests.browser.conftest import opened_at, served
from tests.browser.steps import answered, notice, until
from tests.hub_fixtures import hub, published  # noqa: F401  (fixtures)
from tests.local_hub import Repository

NAME, OFFERED = "tiny/model", "tiny/offered-Instruct"


@contextmanager
def serving(**how):
    from components.jobs.engine import Engine
    from components.jobs.examples import examples
    from components.jobs.local import BUILT_IN, LocalBackend
    from components.models.choosing import Choosing
    from components.page.page import BUILT_IN_MODEL, PHOTO_MODEL

    engine = Engine(LocalBackend({BUILT_IN: {"device": "cpu"}}, {"device": "cpu"}))
    choosing = Choosing(engine, device="cpu", **how)
    with served(engine, examples(), [BUILT_IN_MODEL, PHOTO_MODEL], choosing=choosing) as url:
        yield choosing, url


@pytest.fixture
def page(window, hub, published, monkeypatch):  # noqa: F811
    monkeypatch.setattr("components.models.offers.first_choice", lambda _: OFFERED)
    hub.repositories["tiny/gated"] = Repository(published, gated=True)
    hub.repositories[NAME].pause_s = 0.02
    with serving() as (_, url):
        page = opened_at(window, f"{url}/?frames=8")
        yield page
        page.close()


def load(page, name):
    page.get_by_label("Id on the hub").fill(name)
    press(page, "Load")


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def says(page, text, place="#gv-load"):
    until(page, lambda: text in page.locator(f"{place} .gv-loading").inner_text())


def test_question_about_a_filmed_clip_is_answered_by_the_model_that_one_button_loads(page, hub):  # noqa: F811
    page.locator("[id='gv-example-driveway.mp4']").click()
    notice(page, "Used 8")
    page.get_by_label("Question", exact=True).fill("What is parked there?")
    button = page.get_by_role("button", name="Load offered")
    button.click()
    says(page, f"no model {OFFERED}", "#gv-offer")
    hub.repositories[OFFERED] = hub.repositories[NAME]
    button.click()
    says(page, "Downloading", "#gv-offer")
    until(page, lambda: page.locator("#gv-model input").input_value() == OFFERED)
    answered(page)
    assert not page.locator("#gv-offer").is_visible() and page.errors == []


@pytest.mark.slow  # components/models/test_choosing.py shows it without a browser
def test_model_picker_refuses_an_unknown_model_cancels_a_download_and_loads_a_model(page):
    page.get_by_role("button", name="Load a model").click()
    page.get_by_label("Known checkpoints").click()
    page.get_by_role("option", name="Qwen/Qwen3-VL-2B-Instruct").click()
    name = page.get_by_label("Id on the hub")
    until(page, lambda: name.input_value().startswith("Qwen/Qwen3-VL-2B"))
    load(page, "tiny/gated")
    says(page, "accept its terms")
    assert page.locator("#gv-model input").input_value() == "Built-in (tiny)"
    load(page, "no/such")
    says(page, "There is no model no/such")
    load(page, NAME)
    says(page, "Downloading")
    press(page, "Cancel")
    says(page, "Cancelled")
    press(page, "Load")
    says(page, f"{NAME} is ready")
    until(page, lambda: page.locator("#gv-model input").input_value() == NAME)
    notice(page, "Used 8")
    assert "of 100" in page.locator(".gv-status").inner_text()  # token counts of the new model
    assert page.errors == []
    page.reload()
    page.wait_for_selector(".gv-viewer[data-state=ready]")
    until(page, lambda: page.locator("#gv-model input").input_value() == NAME)
