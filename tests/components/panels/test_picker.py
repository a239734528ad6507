"""The button that loads a model: it works where pressing it can lead somewhere."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from components.panels.page import build_app
from components.session.choice.choosing import Choosing
from components.session.work.engine import Engine
from gleanvid.errors import ModelError, UnreachableError
from tests.components.fake import FakeBackend

USER = SimpleNamespace(session_hash="me", client=SimpleNamespace(host="127.0.0.1"))


@pytest.fixture(scope="module")
def choosing():
    return Choosing(Engine(FakeBackend()), device="cpu")


@pytest.fixture(scope="module")
def page(choosing):
    return build_app(choosing.engine, choosing=choosing)


def looked(page, name):
    """(sentence, whether the button works) of each stage of looking at a model."""
    event = next(event for event in page.fns.values() if event.name == "on_look")
    values = {widget: widget.value for widget in event.inputs}
    (menu,) = (widget for widget in values if widget.label == "Checkpoint")
    stages = event.fn(USER, values | {menu: name})
    line, button = event.outputs
    return [(stage[line], stage[button]["interactive"]) for stage in stages]


@pytest.mark.parametrize(
    ("error", "works"),
    [(UnreachableError("No hub: give a folder."), False), (ModelError("It is gated."), True)],
)
def test_nothing_is_loaded_from_a_hub_that_cannot_be_asked(
    page, choosing, monkeypatch, error, works
):
    def look(*given, **more):
        raise error

    monkeypatch.setattr(choosing, "look", look)
    assert looked(page, "a/b") == [("Looking at a/b …", False), (str(error), works)]


def test_a_model_that_can_be_had_is_loaded_once_it_was_looked_at(page, choosing, monkeypatch):
    monkeypatch.setattr(choosing, "look", lambda *given, **more: SimpleNamespace(text="2 GB"))
    assert looked(page, "a/b") == [("Looking at a/b …", False), ("2 GB", True)]
    assert looked(page, " ") == [("", False)]
