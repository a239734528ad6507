"""The question types that only version 2 has: a single frame cannot answer them.

A question type (``family``) is one function here, one line in ``FAMILIES``, and a story (kind of
scene) of the same name. Where the answer is an object, the options are objects of the clip if there
are enough.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gleanvid.glimpse.questions.common import (
    Evidence,
    draw,
    invent_names,
    lifetimes,
    name,
    refer_to,
)
from gleanvid.glimpse.questions.families import Family, Found
from gleanvid.glimpse.world.travel import STRAIGHT
from gleanvid.glimpse.world.world import Scene

# All answers to "How many different objects are there in all?"; see ``stories.MOST_IN_ALL``.
IN_ALL = ("two", "three", "four", "five")
_SEQUENCE = 4  # number of objects that appear one after the other, in the story "sequence"
_MOVERS = 3  # number of moving objects in the story "speed"


def _sequence(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme != "sequence":
        return
    after = ("Which object comes right after the {0}?", "What comes next after the {0}?")
    before = ("Which object comes right before the {0}?", "What comes just before the {0}?")
    for place in range(_SEQUENCE - 1):
        for asked, answer, words in ((place, place + 1, after), (place + 1, place, before)):
            options = [name(thing) for k, thing in enumerate(scene.things) if k != asked]
            text = draw(rng, *words).format(refer_to(rng, scene.things[asked]))
            yield text, name(scene.things[answer]), options, lifetimes(scene, (asked, answer))


def _duration(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme != "duration":
        return
    stays = [thing.ends - thing.appears for thing in scene.things]
    options = [name(thing) for thing in scene.things]
    for word, answer in (("longest", np.argmax(stays)), ("shortest", np.argmin(stays))):
        text = draw(rng, f"Which object is there the {word}?", f"Which object stays the {word}?")
        yield text, options[answer], options, lifetimes(scene)


def _replaced(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme != "replaced":
        return
    gone, new, stays = scene.things[:3]
    span = 1 / scene.settings.num_units
    options = [name(gone), name(new), name(stays), invent_names(scene, rng)[0]]
    text = draw(rng, "Which object is gone after the cut?", "What is there before the cut only?")
    yield text, name(gone), options, (Evidence(0, gone.ends - span, gone.ends),)
    text = draw(rng, "Which object is new after the cut?", "What is there after the cut only?")
    yield text, name(new), options, (Evidence(1, new.appears, new.appears + span),)


def _total(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme == "total":
        text = draw(
            rng,
            "How many different objects are there in all?",
            "How many objects come, each counted once?",
        )
        yield text, IN_ALL[len(scene.things) - 2], IN_ALL, lifetimes(scene)


def _returns(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme == "returns":
        text = draw(rng, "Which object goes away and comes back?", "Which object comes back?")
        options = [name(thing) for thing in scene.things]
        yield text, options[0], options, lifetimes(scene, (0,))


def _speed(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme == "speed":
        options = [name(thing) for thing in scene.things]
        for answer, word in enumerate(("slowest", "second fastest", "fastest")):
            text = draw(
                rng,
                f"Which of the moving objects is the {word}?",
                f"Which object that moves is the {word}?",
            )
            yield text, options[answer], options, lifetimes(scene, range(_MOVERS))


def _turn(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme != "turn":
        return
    thing = scene.things[0]
    for word, here, there in zip(("first", "last"), thing.path, thing.path[1:], strict=False):
        dx, dy = there[1] - here[1], there[2] - here[2]
        way = STRAIGHT[int(dx > 0)] if abs(dx) > abs(dy) else STRAIGHT[2 + int(dy > 0)]
        text = draw(
            rng, "Which way does the {0} go {1}?", "In which direction does the {0} move {1}?"
        )
        text = text.format(refer_to(rng, thing), word)
        yield text, way, STRAIGHT, (Evidence(0, here[0], there[0]),)


def _cause(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme != "cause":
        return
    moved, mover = scene.things[:2]
    hit = moved.path[1][0]
    span = 2 / scene.settings.num_units
    text = draw(rng, "Which object sets the {0} in motion?", "What makes the {0} move?")
    options = [*(name(thing) for thing in scene.things[1:]), invent_names(scene, rng)[0]]
    evidence = tuple(Evidence(k, hit - span, hit + span) for k in (0, 1))
    yield text.format(refer_to(rng, moved)), name(mover), options, evidence


FAMILIES: dict[str, Family] = {
    "sequence": _sequence,
    "duration": _duration,
    "replaced": _replaced,
    "total": _total,
    "returns": _returns,
    "speed": _speed,
    "turn": _turn,
    "cause": _cause,
}
