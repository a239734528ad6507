"""Behaviours of objects: their paths, when they are visible and how they change.

Objects appear and disappear between temporal units (two frames). Paths stay inside the frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gleanvid.glimpse.world.world import DIRECTIONS, SIZES, ClipSettings, Thing

MOST_REPEATS = 4
GROWTH = 2.0
_TURN = math.radians(7)  # largest angle (radians) between a path and its named direction
_STEP = (1.5, 8.0)  # speed of a moving object in px per frame
_TRIES = 40

Rng = np.random.Generator
Appearance = tuple[str, str, str]  # shape, colour, size


def place_thing(
    rng: Rng,
    settings: ClipSettings,
    appearance: Appearance,
    behaviour: str,
    others: list[Thing],
    clearance: float,
) -> Thing:
    """Draw an object of the given appearance and behaviour, away from the other objects.

    Its least distance to each of ``others``, in sums of their radii, is at least ``clearance``, or
    else the largest of all draws.
    """
    best, best_gap = None, -math.inf
    for _ in range(_TRIES):
        thing = _DOING[behaviour](rng, settings, Thing(*appearance, behaviour, ()))
        gap = min((_gap(thing, other) for other in others), default=math.inf)
        if gap > best_gap:
            best, best_gap = thing, gap
        if gap >= clearance:
            break
    assert best is not None
    return best


def _gap(first: Thing, second: Thing) -> float:
    """Return the least distance of two centres over time, divided by the sum of the radii."""
    return min(
        math.dist(first.centre(t), second.centre(t)) / (first.radius(t) + second.radius(t))
        for t in np.linspace(0, 1, 7)
    )


def _spot(rng: Rng, settings: ClipSettings, thing: Thing) -> tuple[float, float]:
    """Draw a position (x, y) where the object, even at its largest, is inside the frame."""
    margin = max(thing.radius(0), thing.radius(1))
    return (
        float(rng.uniform(margin, settings.width - margin)),
        float(rng.uniform(margin, settings.height - margin)),
    )


def _still(rng: Rng, settings: ClipSettings, thing: Thing) -> Thing:
    return replace(thing, path=((0.0, *_spot(rng, settings, thing)),))


def _moving(rng: Rng, settings: ClipSettings, thing: Thing) -> Thing:
    """Draw a straight path at constant speed, inside the frame."""
    direction = list(DIRECTIONS)[rng.integers(len(DIRECTIONS))]
    x, y = DIRECTIONS[direction]
    angle = math.atan2(y, x) + rng.uniform(-_TURN, _TURN)
    heading = np.array([math.cos(angle), math.sin(angle)])
    margin = thing.radius(0)
    room = np.array([settings.width, settings.height]) - 2 * margin
    longest = 0.95 * float(np.min(room / np.maximum(np.abs(heading), 1e-6)))
    frames = settings.num_frames - 1
    pace = math.exp(rng.uniform(math.log(_STEP[0]), math.log(_STEP[1])))
    shift = heading * min(longest, max(pace * frames, 0.5 * longest * (frames > 3)))
    start = margin + np.maximum(0.0, -shift) + rng.random(2) * (room - np.abs(shift))
    end = start + shift
    path = ((0.0, float(start[0]), float(start[1])), (1.0, float(end[0]), float(end[1])))
    return replace(thing, path=path, direction=direction)


def _growing(rng: Rng, settings: ClipSettings, thing: Thing) -> Thing:
    growth = GROWTH if thing.behaviour == "grows" else 1 / GROWTH
    return _still(rng, settings, replace(thing, growth=growth))


def _turning(rng: Rng, settings: ClipSettings, thing: Thing) -> Thing:
    quarter = settings.num_units / 16  # full turns per clip: a quarter turn every four units
    return _still(rng, settings, replace(thing, turns=float(quarter * rng.choice([-1, 1]))))


def _blinking(rng: Rng, settings: ClipSettings, thing: Thing) -> Thing:
    """Hide the object for one unit, ``repeats`` times, never at the start or the end."""
    units = settings.num_units
    most = min(MOST_REPEATS, (units - 1) // 2)
    repeats = int(rng.integers(1, most + 1))
    slack = rng.multinomial(units - 1 - 2 * repeats, [1 / (repeats + 1)] * (repeats + 1))
    gone = np.cumsum(slack[:repeats] + 1 + (np.arange(repeats) > 0))
    borders = [0.0, *(float(edge) for off in gone for edge in (off, off + 1)), float(units)]
    edges = [border / units for border in borders]
    spans = tuple(zip(edges[::2], edges[1::2], strict=True))
    return _still(rng, settings, replace(thing, spans=spans, repeats=repeats))


def _bouncing(rng: Rng, settings: ClipSettings, thing: Thing) -> Thing:
    """Move up and down one to three times, as a ball on a floor."""
    repeats = int(rng.integers(1, min(3, max(1, settings.num_units // 3)) + 1))
    x, floor = _spot(rng, settings, thing)
    margin = thing.radius(0)
    floor = max(floor, margin + 0.35 * settings.height)
    height = min(0.5 * settings.height, floor - margin)
    times = np.linspace(0, 1, 8 * repeats + 1)
    hops = np.abs(np.sin(np.pi * repeats * times)) * height
    path = tuple((float(t), x, float(floor - hop)) for t, hop in zip(times, hops, strict=True))
    return replace(thing, path=path, repeats=repeats)


def _arriving(rng: Rng, settings: ClipSettings, thing: Thing) -> Thing:
    start = draw_border(rng, 0.2, 0.7, settings.num_units)
    return _still(rng, settings, replace(thing, spans=((start, 1.0),)))


def _leaving(rng: Rng, settings: ClipSettings, thing: Thing) -> Thing:
    end = draw_border(rng, 0.3, 0.8, settings.num_units)
    return _still(rng, settings, replace(thing, spans=((0.0, end),)))


def _flashing(rng: Rng, settings: ClipSettings, thing: Thing) -> Thing:
    unit = int(rng.integers(1, settings.num_units - 1))
    spans = ((unit / settings.num_units, (unit + 1) / settings.num_units),)
    return _still(rng, settings, replace(thing, spans=spans))


_DOING: dict[str, Callable[[Rng, ClipSettings, Thing], Thing]] = {
    "stands": _still,
    "moves": _moving,
    "grows": _growing,
    "shrinks": _growing,
    "turns": _turning,
    "blinks": _blinking,
    "bounces": _bouncing,
    "arrives": _arriving,
    "leaves": _leaving,
    "flashes": _flashing,
    "collides": _still,
}


def draw_border(rng: Rng, low: float, high: float, units: int) -> float:
    """Draw the time of a random boundary between two units, as a fraction of the clip.

    ``low`` and ``high`` are rounded to boundaries. Return 1.0 if the clip has only one unit.
    """
    first, last = max(1, round(low * units)), min(units - 1, round(high * units))
    return float(rng.integers(first, max(first, last) + 1)) / units


def stagger(rng: Rng, things: list[Thing], theme: str, units: int) -> list[Thing]:
    """Let the first two objects arrive or leave (``theme``) an eighth of the clip apart or more."""
    first = int(rng.integers(1, max(2, units // 2)))
    last = int(rng.integers(min(units - 1, first + max(1, units // 8)), units))
    times = [float(time) / units for time in rng.permutation([first, last])]
    spans = [(time, 1.0) if theme == "arrivals" else (0.0, time) for time in times]
    pair = [replace(thing, spans=(span,)) for thing, span in zip(things[:2], spans, strict=True)]
    return pair + things[2:]


def collide(rng: Rng, things: list[Thing]) -> list[Thing]:
    """Let two objects move towards each other, touch, and move back."""
    time = float(rng.uniform(0.35, 0.65))
    here, there = (np.array(thing.centre(0)) for thing in things)
    heading = (there - here) / np.linalg.norm(there - here)
    reach = sum(thing.radius(0) for thing in things) * 0.95
    way = max(0.0, float(np.linalg.norm(there - here)) - reach) / 2
    pair = []
    for thing, spot, sign in zip(things, (here, there), (1, -1), strict=True):
        far = spot + sign * way * heading
        start = (float(spot[0]), float(spot[1]))
        path = ((0.0, *start), (time, float(far[0]), float(far[1])), (1.0, *start))
        pair.append(replace(thing, path=path))
    return pair


def change_thing(
    rng: Rng, settings: ClipSettings, things: list[Thing], what: str, cut: float, spare: Appearance
) -> list[Thing]:
    """Let the first of ``things`` change its property ``what`` at the cut at time ``cut``.

    Returns two objects in place of the first, one before and one after the cut, then the other
    objects. ``spare``: an appearance that no object has; it gives the new shape or colour.
    """
    before, *others = things
    before = replace(before, spans=((0.0, cut),))
    if what == "size":
        small, large = rng.permutation(["small", "large"])
        x, y = before.centre(0)
        room = SIZES["large"] / 2  # the large object must fit into the frame, too
        x, y = (
            min(max(v, room), side - room)
            for v, side in ((x, settings.width), (y, settings.height))
        )
        before = replace(before, size=str(small), path=((0.0, x, y),))
        after = replace(before, size=str(large))
    elif what == "shape":
        after = replace(before, shape=spare[0])
    elif what == "colour":
        after = replace(before, colour=spare[1])
    else:
        after = _elsewhere(rng, settings, before, others)
    return [before, replace(after, spans=((cut, 1.0),)), *others]


def _elsewhere(rng: Rng, settings: ClipSettings, thing: Thing, others: list[Thing]) -> Thing:
    """Move the object at least a third of the frame away, if possible.

    Of many such positions, the one with the largest gap to the other objects is taken.
    """
    far = min(settings.height, settings.width) / 3
    spots = [_still(rng, settings, thing) for _ in range(_TRIES)]
    away = [spot for spot in spots if math.dist(spot.centre(0), thing.centre(0)) >= far]
    return max(away or spots, key=lambda spot: min((_gap(spot, o) for o in others), default=0.0))
