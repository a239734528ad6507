"""The scene of a clip, in version 1 or 2 of Glimpse.

Version 2 has the kinds of scenes of version 1, and stories: scenes with questions that no single
frame can answer. In version 2, the camera's pan, zoom and shake move the objects in the frame, too.
The background may drift and the light may change. A grey bar (post) may be in front of the objects,
but never hides what a question needs.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from gleanvid.glimpse.world.acting import Rng
from gleanvid.glimpse.world.camera import hidden
from gleanvid.glimpse.world.casting import (
    LEAST_UNITS,
    THEMES,
    THEMES_OF_ONE_UNIT,
    cast,
    first_scene,
)
from gleanvid.glimpse.world.stories import STORIES, fits
from gleanvid.glimpse.world.world import (
    ALWAYS,
    Change,
    ClipSettings,
    Post,
    Scene,
    Shot,
    Thing,
    stream,
)

_PLAIN = (*THEMES, "still")  # themes of scenes that are not a story
_HARD = ("cut", "repeats", "comparison")  # themes that are drawn twice as often as the others
_WITH_STORY = 0.6  # fraction of scenes that are a story
_PAN = 0.09  # standard deviation of the pan, as a fraction of the frame's side
_DRIFT = 0.2
# Fraction of scenes for which posts are drawn; the first that hides nothing important is used.
_POSTED = 0.5
_TRIES = 6  # largest number of posts drawn for a scene
_BEHIND = 0.35  # an object may be hidden for at most this fraction of the time that it is there
_HIDEABLE = ("stands", "moves", "grows", "shrinks", "turns")
_MOMENTS = 24  # number of times at which it is checked whether a post hides an object


def sample_scene(seed: int, split: str, index: int, settings: ClipSettings | None = None) -> Scene:
    """Draw the scene of clip ``index`` of a split, in the version that ``settings`` names.

    Raises:
        ValueError: the split is unknown.
    """
    settings = settings or ClipSettings()
    draw = first_scene if settings.version == 1 else _second_scene
    return draw(seed, split, index, settings)


def _second_scene(seed: int, split: str, index: int, settings: ClipSettings) -> Scene:
    rng = stream(seed, split, index, version=2)
    stories = [story for story in STORIES if fits(story, settings)]
    if stories and rng.random() < _WITH_STORY:
        theme = stories[rng.integers(len(stories))]
        story = STORIES[theme].draw(rng, settings)
        things, cut, change, cuts = story.things, story.cut, None, story.cut > 0
    else:
        short = settings.num_units < LEAST_UNITS
        theme = _plain_theme(rng) if not short else str(rng.choice(THEMES_OF_ONE_UNIT))
        things, cut, change = cast(rng, theme, settings)
        cuts = theme == "cut" or (not short and rng.random() < 0.25)
    return _filmed(rng, settings, theme, things, [cut] if cuts else [], change)


def _plain_theme(rng: Rng) -> str:
    odds = np.array([2.0 if theme in _HARD else 1.0 for theme in _PLAIN])
    return str(rng.choice(_PLAIN, p=odds / odds.sum()))


def _filmed(
    rng: Rng,
    settings: ClipSettings,
    theme: str,
    things: tuple[Thing, ...],
    cuts: list[float],
    change: Change | None,
) -> Scene:
    shots = tuple(_shot(rng, settings, *edges) for edges in pairwise([0.0, *cuts, 1.0]))
    scene = Scene(
        settings,
        theme,
        things,
        shots,
        change,
        flicker=float(rng.uniform(0, 0.15) * (rng.random() < 0.3)),
        noise=float(rng.uniform(1, 6) * (rng.random() < 0.6)),
        paint_seed=int(rng.integers(2**31)),
    )
    if rng.random() >= _POSTED:
        return scene
    tries = (_posted(rng, scene) for _ in range(_TRIES))
    return next((posted for posted in tries if _shows(posted)), scene)


def _shot(rng: Rng, settings: ClipSettings, start: float, end: float) -> Shot:
    sides = (settings.width, settings.height)
    moving, drifting, shaking, lit = rng.random(4) < (0.6, 0.5, 0.5, 0.4)
    pan, drift = rng.normal(0, _PAN, 2) * moving, rng.normal(0, _DRIFT, 2) * drifting
    zoom = math.exp(float(np.clip(rng.normal(0, 0.1), -0.15, 0.15))) if moving else 1.0
    light = rng.uniform(0.75, 1.1, 2) if lit else (1.0, 1.0)
    return Shot(
        start,
        end,
        int(rng.integers(2**31)),
        (float(pan[0] * sides[0]), float(pan[1] * sides[1])),
        zoom,
        shake=float(rng.uniform(0.5, 2.0) * shaking),
        carries=True,
        drift=(float(drift[0] * sides[0]), float(drift[1] * sides[1])),
        light=(float(light[0]), float(light[1])),
    )


def _posted(rng: Rng, scene: Scene) -> Scene:
    """Return the scene with a random post in front, which stands still or slides."""
    upright = bool(rng.random() < 0.6)
    side = scene.settings.width if upright else scene.settings.height
    begins, ends = rng.uniform(0, side, 2)
    post = Post(
        upright,
        float(begins),
        float(ends if rng.random() < 0.6 else begins),
        float(rng.uniform(0.06, 0.12) * side),
        float(rng.uniform(40, 200)),
    )
    return Scene(**(vars(scene) | {"posts": (post,)}))


def _shows(scene: Scene) -> bool:
    """Whether the posts hide nothing that a question may be about."""
    edge = 1 / scene.settings.num_units
    for thing in scene.things:
        times = [t for t in (np.arange(_MOMENTS) + 0.5) / _MOMENTS if thing.visible(t)]
        behind = [time for time in times if hidden(scene, thing, time)]
        whole = thing.spans == ALWAYS and thing.behaviour in _HIDEABLE
        if len(behind) > (_BEHIND * len(times) if whole else 0):
            return False
        if any(time < 2 * edge or time > 1 - 2 * edge for time in behind):
            return False
    return True
