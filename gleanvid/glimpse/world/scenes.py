"""Random scenes: their objects, what each does, and the path of the camera.

A theme such as "arrivals" is drawn first. It says what must happen; everything else is random.
"""

from __future__ import annotations

import math
from itertools import pairwise

from gleanvid.glimpse.world.acting import (
    MOST_REPEATS,
    Appearance,
    Rng,
    change_thing,
    collide,
    draw_border,
    place_thing,
    stagger,
)
from gleanvid.glimpse.world.world import (
    BEHAVIOURS,
    CHANGES,
    COLOURS,
    SHAPES,
    SIZES,
    Change,
    ClipSettings,
    Scene,
    Shot,
    Thing,
    stream,
)

THEMES = (
    "medley",
    "flash",
    "arrivals",
    "departures",
    "cut",
    "action",
    "repeats",
    "comparison",
    "collision",
)
THEMES_OF_ONE_UNIT = ("still", "motion")  # themes of clips shorter than LEAST_UNITS
_PAIRS = {  # theme -> behaviour of the first two objects, smallest and largest number of others
    "arrivals": ("arrives", 0, 2),
    "departures": ("leaves", 0, 2),
    "collision": ("collides", 1, 2),
}
LEAST_UNITS = 4  # clips with fewer units have no room for appearing, leaving or changing
UNITS_TO_COUNT = 2 * MOST_REPEATS + 1  # smallest number of units with room for MOST_REPEATS blinks
_CLEARANCE = 0.75  # least distance between two centres, divided by the sum of the radii
# Least distance of the starts of two objects that will collide, divided by the sum of the radii.
_RUN_UP = 2.0
_CROSSING = 0.15  # fraction of scenes in which objects may overlap


def sample_scene(seed: int, split: str, index: int, settings: ClipSettings | None = None) -> Scene:
    """Draw the scene of clip ``index`` of a split.

    Raises:
        ValueError: the split is unknown.
    """
    settings = settings or ClipSettings()
    rng = stream(seed, split, index)
    short = settings.num_units < LEAST_UNITS
    theme = str(rng.choice(THEMES_OF_ONE_UNIT if short else THEMES))
    things, cut, change = _cast(rng, theme, settings)
    cuts = theme == "cut" or (not short and rng.random() < 0.25)
    return Scene(
        settings,
        theme,
        things,
        tuple(_shot(rng, *edges) for edges in pairwise([0.0, *([cut] if cuts else []), 1.0])),
        change,
        flicker=float(rng.uniform(0, 0.2) * (rng.random() < 0.5)),
        noise=float(rng.uniform(1, 6) * (rng.random() < 0.6)),
        paint_seed=int(rng.integers(2**31)),
    )


def _cast(
    rng: Rng, theme: str, settings: ClipSettings
) -> tuple[tuple[Thing, ...], float, Change | None]:
    """Draw the objects of a theme, the time of a cut, and what changes at the cut.

    Only in the theme "cut" does anything change.
    """
    appearances = _draw_appearances(rng)
    behaviours = _behaviours(rng, theme)
    crossing = rng.random() < _CROSSING and theme != "collision"
    clearance = 0.0 if crossing else _CLEARANCE
    things: list[Thing] = []
    for appearance, behaviour in zip(appearances, behaviours, strict=False):
        apart = _RUN_UP if theme == "collision" and len(things) == 1 else clearance
        things.append(place_thing(rng, settings, appearance, behaviour, things, apart))
        if theme == "collision" and len(things) == 2:
            things = collide(rng, things)
    if theme in ("arrivals", "departures"):
        things = stagger(rng, things, theme, settings.num_units)
    cut = draw_border(rng, 0.3, 0.7, settings.num_units)
    change = None
    if theme == "cut":
        change = Change(CHANGES[rng.integers(len(CHANGES))], 0, 1)
        things = change_thing(rng, settings, things, change.what, cut, appearances[-1])
    return tuple(things), cut, change


def _draw_appearances(rng: Rng) -> list[Appearance]:
    """Draw as many appearances as there are shapes; no two share a shape or a colour."""
    sizes = rng.integers(len(SIZES), size=len(SHAPES))
    names = zip(rng.permutation(SHAPES), rng.permutation(list(COLOURS)), sizes, strict=True)
    return [(str(shape), str(colour), list(SIZES)[size]) for shape, colour, size in names]


def _behaviours(rng: Rng, theme: str) -> list[str]:
    """Draw the behaviour of each object.

    The number of objects is uniform over 1 to 4 in every theme with a counting question.
    """
    count = int(rng.integers(1, 5))
    fillers: list[str] = ["stands", "moves", "stands", "moves", "turns"]
    if theme == "still":
        return ["stands"] * count
    if theme == "motion":
        return [str(rng.choice(["stands", "moves", "moves"])) for _ in range(count)]
    if theme == "medley":
        return [str(rng.choice(BEHAVIOURS)) for _ in range(count)]
    if theme in _PAIRS:
        both, least, most = _PAIRS[theme]
        others = rng.integers(least, most + 1)
        return [both] * 2 + [str(rng.choice(fillers)) for _ in range(others)]
    leading: dict[str, tuple[str, ...]] = {
        "flash": ("flashes",),
        "cut": ("stands",),
        "action": ("grows", "turns", "blinks", "bounces"),
        "repeats": ("blinks",),
        "comparison": ("grows", "shrinks", "stands", "leaves"),
    }
    first = str(rng.choice(leading[theme]))
    return [first] + [str(rng.choice(fillers)) for _ in range(count - 1)]


def _shot(rng: Rng, start: float, end: float) -> Shot:
    moving = rng.random() < 0.5
    pan = rng.normal(0, 30, 2) * moving
    zoom = math.exp(rng.normal(0, 0.2)) if rng.random() < 0.4 else 1.0
    return Shot(start, end, int(rng.integers(2**31)), (float(pan[0]), float(pan[1])), zoom)
