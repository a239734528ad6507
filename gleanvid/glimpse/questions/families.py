"""The question types: wordings, answers, options, and evidence (objects and time spans).

A question type (``family``) is one function here and one line in ``FAMILIES``. Options are drawn so
that each of the four is equally likely to be right for someone who does not see the clip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gleanvid.glimpse.questions.common import (
    Evidence,
    draw,
    evenly_cast,
    lifetime,
    lifetimes,
    name,
    name_options,
    options_for,
    refer_to,
    unchanged,
)
from gleanvid.glimpse.world.scenes import UNITS_TO_COUNT
from gleanvid.glimpse.world.world import CHANGES, COLOURS, DIRECTIONS, ROUND, SHAPES, Scene, Thing

NUMBERS = ("one", "two", "three", "four")
ACTIONS = {"grows": "it grows", "turns": "it turns", "blinks": "it blinks", "bounces": "it bounces"}
OUTCOMES = {"grows": "larger", "shrinks": "smaller", "stands": "the same", "leaves": "gone"}
PLACES = ("top left", "top right", "bottom left", "bottom right")
SIDES = ("left", "right", "above", "below")
# Least distance of an object from the middle lines of the frame, as a fraction of the frame's width
# or height. Nearer to one of these lines, the object counts as being in no quarter of the frame.
_CLEAR = 0.08
_TOUCH = 0.07  # evidence of a collision: this fraction of the clip before and after the touch
_COUNTED = ("medley", "flash", "action", "repeats", "comparison", "still", "motion")


Found = tuple[str, str, Sequence[str], tuple[Evidence, ...]]  # question, answer, options, evidence
Family = Callable[[Scene, np.random.Generator], Iterator[Found]]


def _colour(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    for k, thing in unchanged(scene):
        text = draw(rng, "What colour is the {0}?", "Which colour does the {0} have?")
        yield (
            text.format(thing.shape),
            thing.colour,
            options_for(rng, COLOURS, thing.colour),
            lifetime(thing, k),
        )


def _shape(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    for k, thing in unchanged(scene):
        if thing.behaviour != "turns":
            text = draw(rng, "What shape is the {0} object?", "Which shape is {0}?")
            shapes = options_for(rng, SHAPES, thing.shape)
            yield text.format(thing.colour), thing.shape, shapes, lifetime(thing, k)


def _direction(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    for k, thing in unchanged(scene):
        if thing.direction is not None:
            text = draw(rng, "Which way does the {0} move?", "In which direction does the {0} go?")
            straight = "-" in thing.direction
            same = [name for name in DIRECTIONS if ("-" in name) == straight]
            yield text.format(refer_to(rng, thing)), thing.direction, same, lifetime(thing, k)


def _place(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    for k, thing in unchanged(scene):
        moments = [("at the start", 0.0), ("at the end", 1.0)]
        if thing.behaviour == "flashes":
            moments = [("when it flashes", (thing.appears + thing.ends) / 2)]
        elif thing.direction is None:
            moments = [("", thing.appears)]
        word, time = moments[rng.integers(len(moments))]
        place = _place_at(scene, thing, time)
        if place is None or thing.behaviour in ("bounces", "collides"):
            continue
        text = f"Where is the {refer_to(rng, thing)} {word}".rstrip() + "?"
        span = 1 / scene.settings.num_units
        start = min(max(thing.appears, time - span / 2), thing.ends - span)
        yield text, place, PLACES, (Evidence(k, start, start + span),)


def _relation(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    still = [(k, thing) for k, thing in unchanged(scene) if thing.behaviour == "stands"]
    if len(still) < 2:
        return
    chosen = rng.permutation(len(still))[:2]
    (a, one), (b, other) = (still[i] for i in chosen)
    dx, dy = np.subtract(one.centre(0), other.centre(0))
    if max(abs(dx), abs(dy)) < 1.5 * min(abs(dx), abs(dy)) or max(abs(dx), abs(dy)) < 12:
        return
    side = SIDES[int(dx > 0)] if abs(dx) > abs(dy) else SIDES[2 + int(dy > 0)]
    text = draw(rng, "On which side of the {1} is the {0}?", "Where is the {0}, seen from the {1}?")
    names = (refer_to(rng, one), refer_to(rng, other))
    yield text.format(*names), side, SIDES, (*lifetime(one, a), *lifetime(other, b))


def _count(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme in _COUNTED:
        text = draw(rng, "How many objects are there?", "How many different objects appear?")
        yield text, NUMBERS[len(scene.things) - 1], NUMBERS, lifetimes(scene)


def _absent(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if len(scene.things) < 3 or scene.change is not None:
        return
    present = [scene.things[i].colour for i in rng.permutation(len(scene.things))[:3]]
    rest = [name for name in COLOURS if name not in {thing.colour for thing in scene.things}]
    answer = str(rng.choice(rest))
    listed = [str(name) for name in rng.permutation([*present, answer])]
    text = draw(
        rng, "Which colour is not there: {}, {}, {} or {}?", "Which is missing: {}, {}, {} or {}?"
    )
    yield text.format(*listed), answer, listed, lifetimes(scene)


def _flash(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    flashing = [(k, t) for k, t in enumerate(scene.things) if t.behaviour == "flashes"]
    if len(flashing) == 1:
        k, thing = flashing[0]
        text = draw(rng, "Which object flashes briefly?", "What is seen only for a moment?")
        yield text, name(thing), name_options(scene, rng, thing), lifetime(thing, k)


def _order(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme == "arrivals":
        last = max(range(2), key=lambda k: scene.things[k].appears)
        text = draw(rng, "Which object appears last?", "Which object is the last to come?")
    elif scene.theme == "departures":
        last = min(range(2), key=lambda k: scene.things[k].ends)
        text = draw(rng, "Which object leaves first?", "Which object is the first to go?")
    else:
        return
    span = 1 / scene.settings.num_units
    moments = [t.appears if scene.theme == "arrivals" else t.ends - span for t in scene.things[:2]]
    evidence = tuple(Evidence(k, time, time + span) for k, time in enumerate(moments))
    thing = scene.things[last]
    yield text, name(thing), name_options(scene, rng, thing), evidence


def _cut(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.change is not None:
        change, span = scene.change, 1 / scene.settings.num_units
        cut = scene.things[change.after].appears
        options = [f"the {what}" for what in CHANGES]
        evidence = (
            Evidence(change.before, cut - span, cut),
            Evidence(change.after, cut, cut + span),
        )
        text = draw(rng, "What changes about an object at the cut?", "What changes at the cut?")
        yield text, f"the {change.what}", options, evidence


def _collision(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.theme == "collision":
        hit, thing = (int(k) for k in rng.permutation(2))
        time, _, _ = scene.things[0].path[1]
        evidence = tuple(Evidence(k, time - _TOUCH, time + _TOUCH) for k in (0, 1))
        text = draw(rng, "Which object does the {0} hit?", "What does the {0} bump into?")
        hitting, other = scene.things[hit], scene.things[thing]
        options = name_options(scene, rng, other, but=hitting)
        yield text.format(refer_to(rng, hitting)), name(other), options, evidence


def _action(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    for k, thing in evenly_cast(scene, "action"):
        if thing.behaviour in ACTIONS and thing.shape not in ROUND:
            text = f"What does the {refer_to(rng, thing)} do?"
            yield text, ACTIONS[thing.behaviour], tuple(ACTIONS.values()), lifetime(thing, k)


def _repeats(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    if scene.settings.num_units < UNITS_TO_COUNT:
        return
    for k, thing in evenly_cast(scene, "repeats"):
        if thing.behaviour == "blinks":
            text = draw(rng, "How many times does the {0} blink?", "How often does the {0} blink?")
            yield (
                text.format(refer_to(rng, thing)),
                NUMBERS[thing.repeats - 1],
                NUMBERS,
                lifetime(thing, k),
            )


def _comparison(scene: Scene, rng: np.random.Generator) -> Iterator[Found]:
    span = 2 / scene.settings.num_units
    for k, thing in evenly_cast(scene, "comparison"):
        if thing.behaviour in OUTCOMES:
            text = draw(
                rng,
                "What is the {0} at the end, compared with the start?",
                "Compared with the start, how is the {0} at the end?",
            )
            both = (Evidence(k, 0.0, span), Evidence(k, 1 - span, 1.0))
            # An object that has left covers no tokens at the end.
            evidence = both[: 1 + thing.visible(1 - span)]
            options = tuple(OUTCOMES.values())
            yield text.format(refer_to(rng, thing)), OUTCOMES[thing.behaviour], options, evidence


def _place_at(scene: Scene, thing: Thing, time: float) -> str | None:
    """Return the quarter of the frame that holds the centre, or None near a border of quarters."""
    x, y = thing.centre(time)
    x, y = x / scene.settings.width - 0.5, y / scene.settings.height - 0.5
    return None if min(abs(x), abs(y)) < _CLEAR else PLACES[int(x > 0) + 2 * int(y > 0)]


FAMILIES: dict[str, Family] = {
    "colour": _colour,
    "shape": _shape,
    "direction": _direction,
    "place": _place,
    "relation": _relation,
    "count": _count,
    "absent": _absent,
    "flash": _flash,
    "order": _order,
    "cut": _cut,
    "collision": _collision,
    "action": _action,
    "repeats": _repeats,
    "comparison": _comparison,
}
