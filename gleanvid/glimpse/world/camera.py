"""The camera: how pan, zoom, shake and light change the frame.

In version 1 the camera's motion moves only the background in the frame. In a shot with ``carries``
it also moves the objects.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from gleanvid.glimpse.world.world import Scene, Shot, Thing

_SHAKES = 3  # number of sine waves that make up the shake
_FAST = (5.0, 17.0)  # smallest and largest number of periods of a shake wave per clip
# ``off_course`` reads an object's last position this fraction of the clip before its end.
_STILL = 0.01


def shot_at(scene: Scene, time: float) -> Shot:
    return next((shot for shot in scene.shots if time < shot.end), scene.shots[-1])


def view(shot: Shot, time: float) -> tuple[tuple[float, float], float]:
    """Return the camera's shift to the right and down in px, and its magnification."""
    right, down = (pan * (time - 0.5) for pan in shot.pan)
    if shot.shake:
        pace, phase = _waves(shot.ground_seed)
        waves = pace * time + phase
        sway = shot.shake * np.sin(2 * np.pi * waves).mean(1)
        right, down = right + float(sway[0]), down + float(sway[1])
    return (right, down), shot.zoom ** (time - 0.5)


@lru_cache(maxsize=256)
def _waves(ground_seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the shake's sine waves along x and y: periods per clip and phases, [2, waves] each."""
    rng = np.random.default_rng([ground_seed, 1])
    return rng.uniform(*_FAST, (2, _SHAKES)), rng.random((2, _SHAKES))


def centre(scene: Scene, thing: Thing, time: float) -> tuple[float, float]:
    """Return the centre (x, y) of an object in the frame at ``time``, in px."""
    x, y = thing.centre(time)
    shot = shot_at(scene, time)
    if not shot.carries:
        return x, y
    (right, down), zoom = view(shot, time)
    wide, tall = scene.settings.width / 2, scene.settings.height / 2
    return (x - wide - right) * zoom + wide, (y - tall - down) * zoom + tall


def radius(scene: Scene, thing: Thing, time: float) -> float:
    """Return the radius of an object in the frame at ``time``, in px."""
    shot = shot_at(scene, time)
    return thing.radius(time) * (view(shot, time)[1] if shot.carries else 1.0)


def light(scene: Scene, time: float) -> float:
    shot = shot_at(scene, time)
    first, last = shot.light
    return first + (last - first) * time


def hidden(scene: Scene, thing: Thing, time: float) -> bool:
    """Whether a post (grey bar) hides much of an object, or most of it is outside the frame.

    A post hides much of an object if it reaches within half a radius of the object's centre.
    """
    (x, y), size = centre(scene, thing, time), radius(scene, thing, time)
    sides = (x, y, scene.settings.width - x, scene.settings.height - y)
    if min(sides) < -0.2 * size:
        return True
    gaps = (abs((x if post.upright else y) - post.middle(time)) for post in scene.posts)
    reaches = (post.thickness / 2 + 0.5 * size for post in scene.posts)
    return any(gap < reach for gap, reach in zip(gaps, reaches, strict=True))


def off_course(scene: Scene, thing: Thing) -> float:
    """Return the angle (radians) by which the camera changes an object's apparent direction."""
    start, end = thing.appears, thing.ends - _STILL
    there = np.subtract(thing.centre(end), thing.centre(start))
    seen = np.subtract(centre(scene, thing, end), centre(scene, thing, start))
    turn = math.atan2(there[1], there[0]) - math.atan2(seen[1], seen[0])
    return abs(math.remainder(turn, 2 * math.pi))
