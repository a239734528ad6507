""" "Ask again on each change" is disabled if the built-in model does not know the clip."""

from __future__ import annotations

import pytest

from components.jobs.engine import Engine
from components.jobs.examples import examples
from components.jobs.local import BUILT_IN
from components.page import habits
from components.page.page import BUILT_IN_MODEL, build_app
from tests.components.fake import FakeBackend

GLIMPSE, FILM = (str(examples()[place].path) for place in (0, -1))
OTHER = "other/model"


@pytest.fixture(scope="module")
def page():
    models = [BUILT_IN_MODEL, ("Other", OTHER)]
    return build_app(Engine(FakeBackend()), models, examples())


def switch(page, clip, model):
    """Return the update of the switch when a clip or a model is chosen."""
    event, _ = (event for event in page.fns.values() if event.name == "on_clip")
    values = {widget: clip if widget.elem_id == "gv-clip" else model for widget in event.inputs}
    changes = event.fn(values)
    (change,) = (new for widget, new in changes.items() if widget.elem_id == "gv-live-switch")
    return change


@pytest.mark.parametrize(
    ("clip", "model", "rests"),
    [
        (GLIMPSE, BUILT_IN, False),
        (FILM, BUILT_IN, True),
        ("own.mp4", BUILT_IN, True),
        ("own.mp4", OTHER, False),
    ],
)
def test_ask_again_switch_is_disabled_with_a_reason_if_the_built_in_model_does_not_know_the_clip(
    page, clip, model, rests
):
    change = switch(page, clip, model)
    assert change["interactive"] is not rests
    assert change["info"] == (habits.UNKNOWN_CLIP if rests else "")
    assert "value" not in change
