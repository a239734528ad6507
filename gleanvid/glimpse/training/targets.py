"""Training targets for every visual token, beside the answers.

``SEEN`` describes the thing at a token as its two frames show it; the vision tower learns it.
``HAPPENED`` describes what that thing has done so far in the clip; a middle layer of the language
model learns it. In both, 0 means that nothing is there and ``IGNORED`` that it cannot be known.

F frames, K things, U units of two frames, N tokens per unit.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Sequence

import numpy as np

from gleanvid.glimpse.questions.common import Evidence
from gleanvid.glimpse.world.camera import centre
from gleanvid.glimpse.world.world import (
    BEHAVIOURS,
    CHANGES,
    COLOURS,
    DIRECTIONS,
    FRAMES_PER_UNIT,
    SHAPES,
    Scene,
    Thing,
)

IGNORED = -100
VISIBLE = 0.12  # share of a cell an object must cover to own the token
_BINS = 8  # along each side of the picture, for the middle of a thing
_DOINGS = (*BEHAVIOURS, "collides", "patrols", "turns off", "is moved", "touches")
_EVENTS = ("goes on", "appears", "has just gone")
_MOST_SPANS = 5
_AGES = (0, 1.5, 2.5, 4.5, 6.5, 9.5, 12.5)  # units for which a thing has been seen
_SPEEDS = (0, 0.5, 1.5, 3.0)  # px a frame
_STILL = 0.5  # px in a unit: what moves less stands
_ON_COURSE = 0.3  # radians around a direction that has its name
_KNOWN_BY = 0.75  # of the clip: by then it shows what a thing does
_HIDDEN = (
    "leaves",
    "flashes",
    "arrives",
    "visits",
)  # what happens to them is an event, not a way to be

SEEN: dict[str, int] = {  # numbers of classes, 0 included
    "shape": len(SHAPES) + 1,
    "colour": len(COLOURS) + 1,
    "motion": len(DIRECTIONS) + 2,
    "column": _BINS + 1,
    "row": _BINS + 1,
}
HAPPENED: dict[str, int] = {
    "event": len(_EVENTS) + 1,
    "behaviour": len(_DOINGS) + 1,
    "spans": _MOST_SPANS + 1,
    "change": len(CHANGES) + 1,
    "gone shape": len(SHAPES) + 1,
    "gone colour": len(COLOURS) + 1,
    "age": len(_AGES) + 1,
    "rank": _MOST_SPANS + 1,
    "speed": len(_SPEEDS) + 1,
    "column": _BINS + 1,
    "row": _BINS + 1,
}


def token_facts(scene: Scene, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int64 [U * N, 5] and [U * N, 8], in the order of ``SEEN`` and ``HAPPENED``, from the visible
    shares [F, K, rows, columns]."""
    things, units = scene.things, scene.settings.num_units
    covered = _covered(shares)
    owner, there = covered.argmax(-1), covered.max(-1) > VISIBLE  # [U, N]
    middles = (np.arange(units) + 0.5) / units
    seen = np.array([[_seen(scene, thing, time) for thing in things] for time in middles])
    past = np.array([[_past(scene, k, time) for k in range(len(things))] for time in middles])
    u = np.arange(units)[:, None]
    visible = np.where(there[..., None], seen[u, owner], 0)
    happened = np.where(there[..., None], past[u, owner], 0)
    happened[..., 0] += there  # "goes on" is 1, "appears" 2
    happened[..., -2:] = visible[..., -2:]  # places, once more
    _mark_gone(scene, covered, there, happened)
    return visible.reshape(-1, len(SEEN)), happened.reshape(-1, len(HAPPENED))


def evidence_tokens(shares: np.ndarray, evidence: Sequence[Evidence]) -> np.ndarray:
    """bool [U * N]: tokens on what a question is about, while it shows the answer."""
    covered = _covered(shares)
    middles = (np.arange(len(covered)) + 0.5) / len(covered)
    tokens = np.zeros(covered.shape[:2], dtype=bool)
    for part in evidence:
        during = (middles >= part.start) & (middles < part.end)
        tokens |= during[:, None] & (covered[..., part.thing] > VISIBLE)
    return tokens.reshape(-1)


def _covered(shares: np.ndarray) -> np.ndarray:
    """float32 [U, N, K] from the visible shares [F, K, rows, columns]."""
    pairs = shares.reshape(-1, FRAMES_PER_UNIT, *shares.shape[1:]).mean(1)
    return pairs.reshape(*pairs.shape[:2], -1).transpose(0, 2, 1)


def _mark_gone(scene: Scene, covered: np.ndarray, there: np.ndarray, happened: np.ndarray) -> None:
    """Writes in place where a thing stood one unit ago that is no more."""
    units = len(covered)
    for k, thing in enumerate(scene.things):
        visible = [thing.visible((u + 0.5) / units) for u in range(units)]
        for u in range(1, units):
            if visible[u - 1] and not visible[u]:
                left = (covered[u - 1, :, k] > VISIBLE) & ~there[u]
                happened[u, left, 0] = len(_EVENTS)
                happened[u, left, 4] = IGNORED if thing.behaviour == "turns" else _shape(thing)
                happened[u, left, 5] = _colour(thing)


def _seen(scene: Scene, thing: Thing, time: float) -> tuple[int, int, int, int, int]:
    """What turns has no shape for one unit, what bounces no direction."""
    x, y = centre(scene, thing, time)
    return (
        IGNORED if thing.behaviour == "turns" else _shape(thing),
        _colour(thing),
        _motion(scene, thing, time),
        _bin(x / scene.settings.width),
        _bin(y / scene.settings.height),
    )


def _past(scene: Scene, k: int, time: float) -> tuple[int, ...]:
    """The first number is 1 where the thing was not there one unit ago."""
    thing, change = scene.things[k], scene.change
    before = time - 1 / scene.settings.num_units
    changed = change is not None and k in (change.before, change.after)
    known = time >= _KNOWN_BY and thing.behaviour not in _HIDDEN and not changed
    spans = sum(start < time for start, _ in thing.spans)
    come_again = thing.behaviour in ("blinks", "visits")
    units = scene.settings.num_units
    age = sum(min(time, end) - start for start, end in thing.spans if start < time) * units
    ranks = sorted(other.appears for other in scene.things)
    speed = math.dist(thing.centre(time), thing.centre(before)) / FRAMES_PER_UNIT
    return (
        int(before > 0 and not thing.visible(before)),
        _DOINGS.index(thing.behaviour) + 1 if known else IGNORED,
        min(spans, _MOST_SPANS) if come_again else IGNORED,
        CHANGES.index(change.what) + 1 if change is not None and k == change.after else 0,
        *[0] * 2,
        bisect(_AGES, age),
        min(1 + ranks.index(thing.appears), _MOST_SPANS),
        bisect(_SPEEDS, speed),
        *[0] * 2,
    )


def _motion(scene: Scene, thing: Thing, time: float) -> int:
    """1 for a thing that stands, a number a direction; what bounces has none, nor has a curve."""
    if thing.behaviour in ("bounces", "collides"):
        return IGNORED
    if thing.direction is not None:
        return 2 + list(DIRECTIONS).index(thing.direction)
    half = 0.5 / scene.settings.num_units
    dx, dy = np.subtract(thing.centre(time + half), thing.centre(time - half))
    if math.hypot(dx, dy) < _STILL:
        return 1
    towards = [
        math.acos(np.clip((dx * x + dy * y) / math.hypot(dx, dy), -1, 1))
        for x, y in DIRECTIONS.values()
    ]
    best = int(np.argmin(towards))
    return 2 + best if towards[best] < _ON_COURSE else IGNORED


def _shape(thing: Thing) -> int:
    return SHAPES.index(thing.shape) + 1


def _colour(thing: Thing) -> int:
    return list(COLOURS).index(thing.colour) + 1


def _bin(place: float) -> int:
    """1 to ``_BINS`` for a place in [0, 1]."""
    return 1 + int(np.clip(place * _BINS, 0, _BINS - 1))
