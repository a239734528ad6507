"""The story "cause" of Glimpse version 2: an object is touched twice, but moves only once.

Which of the two touching objects sets it in motion shows only at the touch itself. Their resting
positions and paths are drawn in the same way, so they give no hint.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from gleanvid.glimpse.world.acting import Rng
from gleanvid.glimpse.world.world import ClipSettings, Thing

_TOUCHES = (0.27, 0.73)  # times of the touches, fractions of the clip; shifted by up to _JITTER
_JITTER = 0.04
# The following durations are fractions of the clip.
_COMES = 0.2  # way of a touching object from rest to the touch, and from the touch to rest
_LAST = 0.07  # its straight approach just before the touch, and its straight retreat after it
_RUNS = 0.16  # motion of the touched object after the touch that moves it
# The following distances are fractions of the frame's shorter side.
_BOX = 0.2  # largest distance of the touched object from the frame's middle, along x and y
_WAY = (0.17, 0.3)  # range of the distance that the touched object moves
_BEFORE = 0.14  # length of the straight approach before a touch
_REST = 0.24  # least distance of a touching object's resting positions from the touched object's
_MOMENTS = 50  # number of times at which overlaps are checked
_TRIES = 100


def set_in_motion(
    rng: Rng, settings: ClipSettings, moved: Thing, mover: Thing, other: Thing
) -> tuple[Thing, Thing, Thing]:
    """Let ``mover`` and ``other`` touch ``moved``, which moves only when ``mover`` touches it."""
    first, second = (float(t + rng.uniform(-_JITTER, _JITTER)) for t in _TOUCHES)
    hit, tap = (first, second) if rng.random() < 0.5 else (second, first)
    here = _spot(rng, settings)
    there = _onward(rng, settings, here)
    at = there if tap > hit else here
    runs = ((0.0, here), (hit, here), (hit + _RUNS, there), (1.0, there))
    path = tuple((time, float(x), float(y)) for time, (x, y) in runs)
    rests = (here, there)
    return (
        replace(moved, behaviour="is moved", path=path),
        _comer(rng, settings, mover, moved, (here, there), rests, hit),
        _comer(rng, settings, other, moved, (at, _onward(rng, settings, at)), rests, tap),
    )


def undisturbed(moved: Thing, mover: Thing, other: Thing, bystander: Thing) -> bool:
    """Whether the objects stay apart, except while ``mover`` and ``other`` touch ``moved``."""
    things = (moved, mover, other, bystander)
    for time in np.linspace(0, 1, _MOMENTS):
        for a, b in combinations(range(len(things)), 2):
            one, two = things[a], things[b]
            gap = math.dist(one.centre(time), two.centre(time))
            meet = two.path[3][0] if a == 0 and b < 3 else math.inf
            if abs(time - meet) > _LAST and gap < 1.1 * (one.radius(time) + two.radius(time)):
                return False
    return True


def _comer(
    rng: Rng,
    settings: ClipSettings,
    thing: Thing,
    goal: Thing,
    way: tuple[np.ndarray, np.ndarray],
    rests: tuple[np.ndarray, np.ndarray],
    time: float,
) -> Thing:
    """Let ``thing`` leave a resting position, touch ``goal`` at ``time`` and go to a second one.

    At the touch, ``goal`` is at ``way[0]``, and ``thing`` comes from the side opposite ``way[1]``.
    Its resting positions are away from those of ``goal``, ``rests``, if that is possible.
    """
    heading = (way[1] - way[0]) / np.linalg.norm(way[1] - way[0])
    touch = way[0] - heading * 0.95 * (thing.radius(0) + goal.radius(0))
    before = touch - heading * _BEFORE * min(settings.width, settings.height)
    start, end = (_rest(rng, settings, thing, rests) for _ in range(2))
    gone = min(0.99, time + _COMES)
    knots = (
        (0.0, start),
        (time - _COMES, start),
        (time - _LAST, before),
        (time, touch),
        (time + _LAST, before),
        (gone, end),
        (1.0, end),
    )
    path = tuple((t, float(x), float(y)) for t, (x, y) in knots)
    return replace(thing, behaviour="touches", path=path)


def _spot(rng: Rng, settings: ClipSettings) -> np.ndarray:
    """Draw a position near the middle of the frame."""
    sides = np.array([settings.width, settings.height])
    return sides / 2 + rng.uniform(-_BOX, _BOX, 2) * min(sides)


def _onward(rng: Rng, settings: ClipSettings, spot: np.ndarray) -> np.ndarray:
    """Draw a position near the middle of the frame, at a distance in ``_WAY`` from ``spot``."""
    low, high = (share * min(settings.width, settings.height) for share in _WAY)
    while True:
        there = _spot(rng, settings)
        if low <= np.linalg.norm(there - spot) <= high:
            return there


def _rest(
    rng: Rng, settings: ClipSettings, thing: Thing, away: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Draw a position in the frame, if possible at least ``_REST`` from both points ``away``."""
    margin, sides = thing.radius(0), np.array([settings.width, settings.height])
    for _ in range(_TRIES):
        spot = rng.uniform(margin, sides - margin)
        if min(np.linalg.norm(spot - other) for other in away) > _REST * min(sides):
            break
    return np.asarray(spot)
