"""The families of questions of version 2 that one picture cannot answer, a story each.

A family is one function here and one line in ``FAMILIES``. Wherever it can be, all four options
are things of the clip.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gleanvid.glimpse.families import Evidence, Family, Found, everything
from gleanvid.glimpse.naming import invented, name, refer, say
from gleanvid.glimpse.travel import STRAIGHT
from gleanvid.glimpse.world import Scene

IN_ALL = ("two", "three", "four", "five")  # up to ``stories.MOST_IN_ALL``
_SEQUENCE = 4  # things of which one comes after the other
_MOVERS = 3  # things that go to and fro


def _sequence(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme != "sequence":
        return
    place = int(rng.integers(_SEQUENCE - 1))
    if rng.random() < 0.5:
        asked, answer = place, place + 1
        text = say(rng, "Which object comes right after the {0}?", "What comes next after the {0}?")
    else:
        asked, answer = place + 1, place
        text = say(
            rng, "Which object comes right before the {0}?", "What comes just before the {0}?"
        )
    options = [name(thing) for k, thing in enumerate(scene.things) if k != asked]
    text = text.format(refer(rng, scene.things[asked]))
    yield text, name(scene.things[answer]), options, _lives(scene, (asked, answer))


def _duration(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme != "duration":
        return
    stays = [thing.ends - thing.appears for thing in scene.things]
    if rng.random() < 0.5:
        answer = int(np.argmax(stays))
        text = say(rng, "Which object is there the longest?", "Which object stays the longest?")
    else:
        answer = int(np.argmin(stays))
        text = say(rng, "Which object is there the shortest?", "Which object stays the shortest?")
    options = [name(thing) for thing in scene.things]
    yield text, options[answer], options, everything(scene)


def _replaced(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme != "replaced":
        return
    gone, new = scene.things[:2]
    span = 1 / scene.settings.num_units
    if rng.random() < 0.5:
        thing, k, start = gone, 0, gone.ends - span
        text = say(
            rng, "Which object is gone after the cut?", "What was there before the cut only?"
        )
    else:
        thing, k, start = new, 1, new.appears
        text = say(rng, "Which object is new after the cut?", "What is there after the cut only?")
    known = [name(other) for other in (gone, new, scene.things[2])]
    yield text, name(thing), [*known, invented(scene, rng)[0]], (Evidence(k, start, start + span),)


def _total(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme == "total":
        text = say(
            rng,
            "How many different objects are there in all?",
            "How many objects come, each counted once?",
        )
        yield text, IN_ALL[len(scene.things) - 2], IN_ALL, everything(scene)


def _returns(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme == "returns":
        text = say(rng, "Which object goes away and comes back?", "Which object comes back?")
        options = [name(thing) for thing in scene.things]
        yield text, options[0], options, _lives(scene, (0,))


def _speed(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme != "speed":
        return
    if rng.random() < 0.5:
        answer = _MOVERS - 1
        text = say(rng, "Which object is the fastest?", "Which object moves the fastest?")
    else:
        answer = int(rng.integers(_MOVERS - 1))
        word = ("slowest", "second fastest")[answer]
        text = f"Which of the moving objects is the {word}?"
    options = [name(thing) for thing in scene.things]
    yield text, options[answer], options, _lives(scene, range(_MOVERS))


def _turn(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme != "turn":
        return
    thing, first = scene.things[0], rng.random() < 0.5
    start, corner, end = thing.path
    here, there = (start, corner) if first else (corner, end)
    dx, dy = there[1] - here[1], there[2] - here[2]
    way = STRAIGHT[int(dx > 0)] if abs(dx) > abs(dy) else STRAIGHT[2 + int(dy > 0)]
    text = (
        say(rng, "Which way does the {0} go first?", "In which direction does the {0} move first?")
        if first
        else say(
            rng, "Which way does the {0} go last?", "In which direction does the {0} move last?"
        )
    )
    yield text.format(refer(rng, thing)), way, STRAIGHT, (Evidence(0, here[0], there[0]),)


def _cause(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme != "cause":
        return
    moved, mover = scene.things[:2]
    hit = moved.path[1][0]
    span = 2 / scene.settings.num_units
    text = say(rng, "Which object sets the {0} in motion?", "What makes the {0} move?")
    options = [*(name(thing) for thing in scene.things[1:]), invented(scene, rng)[0]]
    evidence = tuple(Evidence(k, hit - span, hit + span) for k in (0, 1))
    yield text.format(refer(rng, moved)), name(mover), options, evidence


def _lives(scene: Scene, which: Sequence[int]) -> tuple[Evidence, ...]:
    return tuple(Evidence(k, scene.things[k].appears, scene.things[k].ends) for k in which)


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
