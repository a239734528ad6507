"""The story of version 2 about cause: a thing that is touched twice and goes only once.

Where the touching things come from, go to and rest says nothing of which touch it was.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from gleanvid.glimpse.acting import Rng
from gleanvid.glimpse.world import ClipSettings, Thing

_TOUCHES = (0.27, 0.73)  # of the clip, about when
_JITTER = 0.04
_COMES = 0.2  # of the clip, from setting out to touching
_RUNS = 0.16  # of the clip, from being touched to standing again
_AWAY = 0.20  # of the picture's side: how far it goes
_FROM = (0.15, 0.35)  # of the picture's side, beyond touching: where the others set out
_ASIDE = 1.0  # radians by which they leave another way than they came, at most
_STRAY = 0.16  # of the picture's side, from the middle
_MOMENTS = 50  # at which a story is looked at
_TURN = 0.9  # least angle (radians) between the two comers


def set_in_motion(
    rng: Rng, settings: ClipSettings, moved: Thing, mover: Thing, other: Thing
) -> tuple[Thing, Thing, Thing]:
    """``moved`` is touched by both and goes on from ``mover`` alone; each goes off after it."""
    side = min(settings.width, settings.height)
    first, second = (float(t + rng.uniform(-_JITTER, _JITTER)) for t in _TOUCHES)
    hit, tap = (first, second) if rng.random() < 0.5 else (second, first)
    angle = rng.uniform(0, 2 * np.pi)
    way = _heading(angle)
    middle = np.array([settings.width, settings.height]) / 2
    here = middle + rng.uniform(-1, 1, 2) * _STRAY * side
    there = here + way * _AWAY * side
    runs = ((0.0, here), (hit, here), (hit + _RUNS, there), (1.0, there))
    comer = _comer(rng, settings, mover, moved, here, angle, hit)
    turn = rng.uniform(_TURN, np.pi - 0.3) * rng.choice([-1, 1])
    at = there if tap > hit else here
    taps = _comer(rng, settings, other, moved, at, angle + turn, tap)
    path = tuple((time, float(x), float(y)) for time, (x, y) in runs)
    return replace(moved, behaviour="is moved", path=path), comer, taps


def undisturbed(moved: Thing, mover: Thing, other: Thing, bystander: Thing) -> bool:
    """Whether nothing touches but what shall: each comer what is moved, once."""
    things = (moved, mover, other, bystander)
    for time in np.linspace(0, 1, _MOMENTS):
        for a, b in combinations(range(len(things)), 2):
            one, two = things[a], things[b]
            gap = math.dist(one.centre(time), two.centre(time))
            meet = two.path[2][0] if a == 0 and b < 3 else math.inf
            if abs(time - meet) > _COMES and gap < 1.05 * (one.radius(time) + two.radius(time)):
                return False
    return True


def _comer(
    rng: Rng,
    settings: ClipSettings,
    thing: Thing,
    goal: Thing,
    spot: np.ndarray,
    angle: float,
    time: float,
) -> Thing:
    """Comes along ``angle`` to touch what is at ``spot`` at ``time``, and goes off elsewhere."""
    touch = spot - _heading(angle) * 0.95 * (thing.radius(0) + goal.radius(0))
    sides = np.array([settings.width, settings.height])
    margin, far = thing.radius(0), rng.uniform(*_FROM, 2) * min(sides)
    aside = angle + rng.uniform(-_ASIDE, _ASIDE)
    start = np.clip(touch - _heading(angle) * far[0], margin, sides - margin)
    end = np.clip(touch - _heading(aside) * far[1], margin, sides - margin)
    gone = min(0.99, time + _COMES)
    knots = ((0.0, start), (time - _COMES, start), (time, touch), (gone, end), (1.0, end))
    path = tuple((t, float(x), float(y)) for t, (x, y) in knots)
    return replace(thing, behaviour="touches", path=path)


def _heading(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])
