"""Models asked in turn: two stay where there is room; else one is changed for another rarely."""

from __future__ import annotations

import pytest

from components.session.work.local import BUILT_IN, has_room
from components.session.work.models import Models
from components.session.work.queue import BusyError
from gleanvid.models.loading.fit import Memory
from gleanvid.types import ModelError


class Loader:
    """Counts what it loads; "broken" fails."""

    def __init__(self):
        self.loads = []

    def __call__(self, name):
        self.loads.append(name)
        if name == "broken":
            raise ModelError("It is broken.")
        return object()


@pytest.fixture
def load():
    return Loader()


def at(models, now):
    """Has the clock of these models stand at ``now[0]``."""
    models._stay.clock = lambda: now[0]
    return models


def test_two_models_asked_in_turn_are_loaded_once_each(load):
    models = Models(load, room=lambda _: True, stay_s=60)
    first = [models.get(name) for name in "ab"]
    assert [models.get(name) for name in "ababab"] == first * 3 and load.loads == ["a", "b"]


def test_no_more_than_two_are_held_and_the_one_asked_last_stays(load):
    models = Models(load, room=lambda _: True)
    for name in "abac":
        models.get(name)
    assert list(models.held) == ["a", "c"]


def test_without_room_a_model_stays_for_a_while(load):
    now = [0.0]
    models = at(Models(load, room=lambda _: False, stay_s=60), now)
    models.get("a")
    models.get("b")  # nobody has changed a model yet
    now[0] = 18.0
    with pytest.raises(BusyError, match=r"b is in use.*asked in 42 seconds"):
        models.get("a")
    assert models.get("b") and load.loads == ["a", "b"]
    now[0] = 60.0
    models.get("a")
    assert load.loads == ["a", "b", "a"] and list(models.held) == ["a"]


def test_three_in_turn_do_not_push_each_other_out_at_every_ask(load):
    now = [0.0]
    models = at(Models(load, room=lambda _: True, stay_s=60), now)
    for name in "abc":
        models.get(name)
    with pytest.raises(BusyError, match="c is in use"):
        models.get("a")
    assert models.get("b") and models.get("c") and load.loads == ["a", "b", "c"]
    now[0] = 60.0
    assert models.get("a") and list(models.held) == ["c", "a"]


def test_recordings_push_no_model_out(load):
    models = Models(load, room=lambda _: False, stay_s=60)
    for name in ("a", "recording:1", "recording:2", "recording:3", "a"):
        models.get(name)
    assert list(models.held) == ["recording:2", "recording:3", "a"] and load.loads.count("a") == 1


def test_one_that_fails_makes_the_others_wait_no_more_than_once(load):
    now = [0.0]
    models = at(Models(load, room=lambda _: False, stay_s=60), now)
    models.get("a")
    with pytest.raises(ModelError):
        models.get("broken")
    assert models.get("a")  # nothing is in memory: no reason to wait
    with pytest.raises(BusyError):
        models.get("broken")
    assert load.loads == ["a", "broken", "a"]


def test_one_that_was_loaded_beside_takes_the_place_where_one_is_held(load):
    models = Models(load)
    models.get("a")
    models.put("b", object())
    assert list(models.held) == ["b"]


def test_room_is_looked_for_on_this_machine_alone(hub, published, monkeypatch):
    assert has_room(BUILT_IN, "cpu") and has_room(f"{BUILT_IN}@bf16", "cpu")
    assert has_room(str(published), "cpu")
    assert not has_room("tiny/model", "cpu") and not has_room("vllm:http://127.0.0.1:9", "cpu")
    assert not hub.requests
    monkeypatch.setattr("gleanvid.models.loading.outlook.memory", lambda _: Memory("cpu", 1, 1))
    assert not has_room(BUILT_IN, "cpu")
