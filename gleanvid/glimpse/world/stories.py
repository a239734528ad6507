"""Stories of version 2: scenes whose questions a single frame cannot answer.

A story is one function here and one line in ``STORIES``. The objects are drawn so that each is
equally likely to be the answer: order, duration, number of visits and speed are random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gleanvid.glimpse.world.acting import Rng, draw_border, place_thing
from gleanvid.glimpse.world.casting import draw_appearances
from gleanvid.glimpse.world.touching import set_in_motion, undisturbed
from gleanvid.glimpse.world.travel import overlap, there_and_back, turning
from gleanvid.glimpse.world.world import ALWAYS, ClipSettings, Thing

MOST_IN_ALL = 5
_APART = 0.75  # least distance between two centres, divided by the sum of the radii
# Fractions of the clip for which the four objects of the story "duration" are visible.
_STAYS = (0.14, 0.25, 0.38, 0.56)
_VISITS = 6  # number of visits of all objects together, in the story "total"
_PACES = (1.0, 1.9, 3.6)  # speeds relative to the slowest object, in the story "speed"
# Number of paths drawn per object of the story "speed"; the one that overlaps least is used.
_LINES = 10
_TRIES = 120
_SLOWEST = (0.8, 1.2)  # range of the slowest object's speed in px per frame, in the story "speed"


@dataclass(frozen=True)
class StoryCast:
    """The objects of a story, first those that its questions are about.

    ``cut``: time of a cut, as a fraction of the clip; 0 if there is none.
    """

    things: tuple[Thing, ...]
    cut: float = 0.0


@dataclass(frozen=True)
class Story:
    """A story: the function that draws its objects, and which clips have room for it.

    A clip must have at least ``least_units`` temporal units, and ``least_side`` px on each side.
    """

    draw: Callable[[Rng, ClipSettings], StoryCast]
    least_units: int
    least_side: int = 80


def fits(story: str, settings: ClipSettings) -> bool:
    """Whether a clip is long and large enough for the story."""
    known = STORIES[story]
    long_enough = settings.num_units >= known.least_units
    return long_enough and min(settings.height, settings.width) >= known.least_side


def _sequence(rng: Rng, settings: ClipSettings) -> StoryCast:
    """Draw four objects that are there one after the other, and a fifth that is always there."""
    units, count = settings.num_units, 4
    slack = rng.multinomial(units - count, [1 / (2 * count + 1)] * (2 * count + 1))
    stays, gaps = 1 + slack[:count], slack[count:]
    starts = np.cumsum(gaps[:count]) + np.cumsum([0, *stays[:-1]])
    spans = [((start, start + stay),) for start, stay in zip(starts, stays, strict=True)]
    return StoryCast(_visiting(rng, settings, [*spans, ((0, units),)]))


def _duration(rng: Rng, settings: ClipSettings) -> StoryCast:
    """Draw four objects, each of which is there for a different length of time."""
    units = settings.num_units
    stays = [max(k + 1, round(share * units)) for k, share in enumerate(_STAYS)]
    starts = [int(rng.integers(0, units - stay + 1)) for stay in stays]
    spans = [((start, start + stay),) for start, stay in zip(starts, stays, strict=True)]
    return StoryCast(_visiting(rng, settings, spans))


def _replaced(rng: Rng, settings: ClipSettings) -> StoryCast:
    """Draw an object that disappears at a cut, one that appears at the cut, and two that stay."""
    units = settings.num_units
    cut = draw_border(rng, 0.3, 0.7, units)
    at = round(cut * units)
    things = _visiting(rng, settings, [((0, at),), ((at, units),), ((0, units),), ((0, units),)])
    return StoryCast(things, cut)


def _total(rng: Rng, settings: ClipSettings) -> StoryCast:
    """Draw two to five objects that come and go, so that exactly one is there at any time.

    They make ``_VISITS`` visits together, so at least one object comes again.
    """
    units, visits = settings.num_units, min(_VISITS, settings.num_units)
    count = int(rng.integers(2, MOST_IN_ALL + 1))
    while True:
        who = rng.integers(count, size=visits)
        if len(set(who.tolist())) == count and (np.diff(who) != 0).all():
            break
    edges = np.concatenate([[0], np.sort(rng.permutation(units - 1)[: visits - 1] + 1), [units]])
    spans = [
        tuple((int(edges[v]), int(edges[v + 1])) for v in np.flatnonzero(who == k))
        for k in range(count)
    ]
    return StoryCast(_visiting(rng, settings, spans))


def _returns(rng: Rng, settings: ClipSettings) -> StoryCast:
    """Draw an object that leaves and comes back, and three that do not.

    Each of the three comes late, leaves for good or stays.
    """
    units = settings.num_units
    spans: list[Sequence[tuple[int, int]]] = [_broken(rng, units)]
    for kind in rng.choice(["late", "leaves", "stays"], 3, p=[0.4, 0.4, 0.2]):
        border = int(rng.integers(max(1, units // 5), units - units // 5))
        known = {"late": (border, units), "leaves": (0, border), "stays": (0, units)}
        spans.append((known[str(kind)],))
    return StoryCast(_visiting(rng, settings, spans))


def _broken(rng: Rng, units: int) -> Sequence[tuple[int, int]]:
    """Draw the two time spans, in temporal units, of an object that leaves and comes back.

    Between them, it is away for about 1/6 to 1/2 of the clip.
    """
    away = int(rng.integers(max(1, units // 6), units // 2 + 1))
    goes = int(rng.integers(1, units - away))
    return ((0, goes), (goes + away, units))


def _speed(rng: Rng, settings: ClipSettings) -> StoryCast:
    """Draw three objects that move back and forth at different speeds; a fourth stands still."""
    things: list[Thing] = []
    slowest = float(rng.uniform(*_SLOWEST))
    paces = [slowest * pace for pace in _PACES] + [0.0]
    for pace, (shape, colour, size) in zip(paces, draw_appearances(rng), strict=False):
        look = (shape, colour, "medium" if size == "large" else size)
        tries = [place_thing(rng, settings, look, "stands", things, _APART) for _ in range(_LINES)]
        if pace:
            tries = [there_and_back(rng, settings, thing, pace) for thing in tries]
        things.append(min(tries, key=lambda thing: overlap(thing, things)))
    return StoryCast(tuple(things))


def _turn(rng: Rng, settings: ClipSettings) -> StoryCast:
    """Draw an object that changes direction once; up to two more stand still or move straight."""
    first, *rest = draw_appearances(rng)
    things = [turning(rng, settings, place_thing(rng, settings, first, "stands", [], 0.0))]
    for appearance in rest[: rng.integers(0, 3)]:
        doing = str(rng.choice(["stands", "moves"]))
        things.append(place_thing(rng, settings, appearance, doing, things, _APART))
    return StoryCast(tuple(things))


def _cause(rng: Rng, settings: ClipSettings) -> StoryCast:
    """Draw an object that two others touch. Only one of the touches sets it in motion.

    A fourth object stands still.
    """
    looks = [(shape, colour, "small") for shape, colour, _ in draw_appearances(rng)]
    for _ in range(_TRIES):
        mates = [place_thing(rng, settings, look, "stands", [], 0.0) for look in looks[:3]]
        things = list(set_in_motion(rng, settings, *mates))
        things.append(place_thing(rng, settings, looks[3], "stands", things, 1.2))
        if undisturbed(*things):
            break
    return StoryCast(tuple(things))


def _visiting(
    rng: Rng, settings: ClipSettings, spans: Sequence[Sequence[tuple[int, int]]]
) -> tuple[Thing, ...]:
    """Draw objects that stand still, each there in its own ``spans`` (start, end), in units."""
    things: list[Thing] = []
    for own, appearance in zip(spans, draw_appearances(rng), strict=False):
        thing = place_thing(rng, settings, appearance, "stands", things, _APART)
        times = tuple((start / settings.num_units, end / settings.num_units) for start, end in own)
        things.append(thing if times == ALWAYS else replace(thing, behaviour="visits", spans=times))
    return tuple(things)


STORIES: dict[str, Story] = {
    "sequence": Story(_sequence, 8),
    "duration": Story(_duration, 8),
    "replaced": Story(_replaced, 4),
    "total": Story(_total, 8),
    "returns": Story(_returns, 8),
    "speed": Story(_speed, 6),
    "turn": Story(_turn, 6),
    "cause": Story(_cause, 10, least_side=128),
}
