"""Paths of Glimpse version 2 that change direction: back and forth on a line, or once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gleanvid.glimpse.world.acting import Rng
from gleanvid.glimpse.world.world import DIRECTIONS, ClipSettings, Thing

STRAIGHT = ("left", "right", "up", "down")
# length range of both straight parts of a path with a turn, relative to the frame's shorter side
_LEG = (0.3, 0.45)
# length range of the line of an object that goes back and forth, as a fraction of the frame's
# shorter side minus one margin (_MARGIN)
_WAY = (0.35, 0.6)
_MOMENTS = 20  # number of times at which overlaps are checked
# least distance of a path from the frame's edges, in radii; above 1 because the camera moves, too
_MARGIN = 1.25


def there_and_back(rng: Rng, settings: ClipSettings, thing: Thing, pace: float) -> Thing:
    """Let the object move back and forth on a line, ``pace`` px per frame, from a random start."""
    low, room = _room(settings, thing)
    angle = rng.uniform(0, 2 * np.pi)
    way = np.array([np.cos(angle), np.sin(angle)]) * rng.uniform(*_WAY) * min(low + room)
    way = np.clip(way, -room, room)
    start = low + np.maximum(0, -way) + rng.random(2) * (room - np.abs(way))
    length, total = float(np.linalg.norm(way)), pace * settings.num_frames
    phase = float(rng.uniform(0, 2 * length))
    first, last = np.ceil(phase / length), np.floor((phase + total) / length)
    turns = np.arange(first, last + 1) * length
    marks = np.unique(np.concatenate([[phase], turns, [phase + total]]))
    shares = 1 - np.abs((marks / length) % 2 - 1)  # position on the line: a triangle wave in time
    times = (marks - phase) / total
    path = tuple(
        (float(t), *(float(v) for v in start + share * way))
        for t, share in zip(times, shares, strict=True)
    )
    return replace(thing, behaviour="patrols", path=path)  # type: ignore[arg-type]


def turning(rng: Rng, settings: ClipSettings, thing: Thing) -> Thing:
    """Let the object move in one direction, then in another; ``direction`` stays None."""
    first, then = (STRAIGHT[k] for k in rng.permutation(len(STRAIGHT))[:2])
    low, room = _room(settings, thing)
    side = min(settings.width, settings.height)
    legs = np.minimum(rng.uniform(*_LEG, 2) * side, room.min())
    ways = [np.array(DIRECTIONS[way]) * leg for way, leg in zip((first, then), legs, strict=True)]
    knots = np.stack([np.zeros(2), ways[0], ways[0] + ways[1]])
    extent = knots.max(0) - knots.min(0)
    knots += low - knots.min(0) + rng.random(2) * np.maximum(0, room - extent)
    turn = float(rng.integers(round(0.35 * settings.num_units), round(0.65 * settings.num_units)))
    times = (0.0, turn / settings.num_units, 1.0)
    path = tuple((t, float(x), float(y)) for t, (x, y) in zip(times, knots, strict=True))
    return replace(thing, behaviour="turns off", path=path)


def overlap(thing: Thing, others: Sequence[Thing]) -> float:
    """Return how much an object overlaps others, summed over the clip; 0 means never."""
    times = np.linspace(0, 1, _MOMENTS)
    return sum(
        max(0.0, 1 - math.dist(thing.centre(t), o.centre(t)) / (thing.radius(t) + o.radius(t)))
        for o in others
        for t in times
    )


def _room(settings: ClipSettings, thing: Thing) -> tuple[np.ndarray, np.ndarray]:
    """Return where an object's centre may be, in px: smallest (x, y), and the range's size."""
    margin = _MARGIN * thing.radius(0)
    low = np.array([margin, margin])
    return low, np.array([settings.width, settings.height]) - 2 * margin
