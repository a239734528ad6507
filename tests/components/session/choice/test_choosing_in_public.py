"""Choosing on a server that strangers reach: not too often, not for ever, and told when again."""

from __future__ import annotations

import threading
import time

import pytest

from components.session.choice import choosing as public
from components.session.choice.choosing import CHOICES, LOOKS, PAUSE_S, Choosing
from components.session.choice.facts import KNOWN, KNOWN_S
from components.session.work.engine import Engine
from components.session.work.local import BUILT_IN, LocalBackend
from components.session.work.queue import BusyError, Line
from tests.components.session.choice.test_choosing import NAME, followed, scarce, stages

OTHER = f"{NAME}@bf16"


@pytest.fixture(scope="module")
def library():
    return LocalBackend({BUILT_IN: {"device": "cpu"}}, {"device": "cpu"})


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def choice(hub, library, now):
    """Of a public server that holds one model at a time."""
    engine = Engine(library, line=Line())
    engine.model(BUILT_IN)
    made = Choosing(engine, [BUILT_IN, NAME], strict=True, device="cpu")
    for limit in (made._pause, made._choices, made._looks):
        limit.clock = lambda: now[0]
    return made


def test_visitors_taking_turns_do_not_load_models_without_a_pause(choice, now):
    assert followed(choice, NAME, visitor="a")[-1].stage == "ready"
    now[0] = 18.0
    with pytest.raises(BusyError, match="Another can be chosen in 42 seconds"):
        choice.begin(BUILT_IN, visitor="b")
    assert followed(choice, NAME, visitor="b")[-1].stage == "ready"  # it is there already
    now[0] = PAUSE_S
    assert followed(choice, BUILT_IN, visitor="b")[-1].stage == "ready"


def test_a_choice_that_fails_is_followed_by_a_pause_too(choice, hub):
    hub.repositories[NAME].corrupt = True
    assert followed(choice, NAME)[-1].stage == "failed"
    with pytest.raises(BusyError, match="in 60 seconds"):
        choice.begin(NAME, visitor="another")


def test_an_address_chooses_so_often_and_others_on(choice, now, monkeypatch):
    monkeypatch.setattr(Choosing, "_bring", lambda *_: None)
    for _ in range(CHOICES):
        followed(choice, NAME, visitor="a")
    with pytest.raises(BusyError, match=f"{CHOICES} models.*Another can be chosen in 10 minutes"):
        choice.begin(NAME, visitor="a")
    assert followed(choice, NAME, visitor="b")[-1].stage == "ready"
    now[0] = 600.0
    assert followed(choice, NAME, visitor="a")[-1].stage == "ready"


def test_a_server_of_ones_own_has_no_pause(hub, library):
    engine = Engine(library, line=Line())
    engine.model(BUILT_IN)
    own = Choosing(engine, device="cpu")
    for name in (NAME, BUILT_IN, NAME):
        assert followed(own, name)[-1].stage == "ready"


def test_loading_keeps_others_waiting_no_longer_than_its_limit(choice, monkeypatch):
    scarce(monkeypatch, 0.001)
    monkeypatch.setattr(Engine, "weights_gb", lambda _: 8.0)
    monkeypatch.setattr(public, "IN_PLACE_S", 0.2)
    load = choice.engine.backend.load_model

    def slowly(name):
        if name == NAME:
            threading.Event().wait(0.5)
        return load(name)

    monkeypatch.setattr(choice.engine.backend, "load_model", slowly, raising=False)
    told = followed(choice, NAME)
    assert told[-1].stage == "failed" and "longer than 0.2 seconds" in told[-1].text
    assert told[-1].usable == BUILT_IN and len(choice.engine.line) == 0


def test_the_hub_is_asked_once_for_what_many_look_at(choice, hub, now):
    first = choice.look(NAME, visitor="a").text
    count = len(hub.asked)
    texts = {choice.look(NAME, "auto", 32, f"visitor {number}").text for number in range(30)}
    assert texts == {first} and len(hub.asked) == count
    assert choice.look(NAME, "bf16", 8, "a").fit.needed_gb > 0 and len(hub.asked) == count
    choice._facts.known.expire(choice._facts.known.timer() + KNOWN_S + 1)
    choice.look(NAME, visitor="a")
    assert len(hub.asked) > count


def test_an_address_looks_so_often_and_is_told_when_again(choice, now):
    for _ in range(LOOKS):
        choice.look(BUILT_IN, visitor="a")
    with pytest.raises(BusyError, match="Wait 3 seconds"):
        choice.look(BUILT_IN, visitor="a")
    choice.look(BUILT_IN, visitor="b")
    now[0] = 3.0
    choice.look(BUILT_IN, visitor="a")


def test_what_is_known_of_the_hub_is_bounded(choice):
    assert choice._facts.known.maxsize == KNOWN < 1000


def test_cancelling_is_heard_while_the_hub_is_silent(choice, monkeypatch):
    reached, over = threading.Event(), threading.Event()

    def silent(answers):
        reached.set()
        over.wait(30)

    monkeypatch.setattr("tests.local_hub.Answers.do_GET", silent)
    choice.begin(NAME, page="me")
    assert reached.wait(10)
    assert choice.cancel("me")
    asked = time.monotonic()
    told = list(choice.progress())
    over.set()
    assert stages(told)[-1] == "cancelled" and time.monotonic() - asked < 3
