"""Features of a question and an option that an ideal observer gets from a single frame.

The features of one frame are called a glance. They say which objects of the question and the option
are visible, where they are, how large and how far apart, how many objects are visible in all, and
when in the clip the frame was taken.
"""

from __future__ import annotations

import math
import re

import numpy as np

from gleanvid.glimpse.questions.common import name
from gleanvid.glimpse.questions.families import PLACES, SIDES
from gleanvid.glimpse.questions.questions import Question
from gleanvid.glimpse.world.camera import centre, hidden, radius
from gleanvid.glimpse.world.world import COLOURS, SHAPES, Scene, Thing

_WORDS = re.compile("|".join([*SHAPES, *COLOURS]))
_STATE = 7  # number of features of one object
_MOST = 6  # the number of visible objects is one-hot encoded: 0 to this number


def glances(scene: Scene, question: Question, kinds: list[str]) -> np.ndarray:
    """Return the features for a question, its options and each temporal unit of its clip.

    ``kinds``: at most 64 question wordings and answer words. Their indices are the positions of
    one-hot features. Wordings and words that are missing in the list are appended in place.

    Returns:
        float32 [units, 4 options, features].
    """
    subjects, units = _subjects(scene, question), scene.settings.num_units
    kind = _number(kinds, _WORDS.sub("", question.text))
    rows = [
        [_glance(scene, time, subjects, option, kind, kinds) for option in question.options]
        for time in (np.arange(units) + 0.5) / units  # the middle of each unit
    ]
    return np.array(rows, dtype=np.float32)


def _glance(
    scene: Scene, time: float, subjects: list[Thing], option: str, kind: int, kinds: list[str]
) -> list[float]:
    shown = [t for t in scene.things if t.visible(time) and not hidden(scene, t, time)]
    named = [thing for thing in shown if name(thing) == option]
    asked = [thing if thing in shown else None for thing in [*subjects, None, None][:2]]
    words = [0.0] * 64
    words[kind] = 1.0
    if not set(option.split()) & {*COLOURS, *SHAPES}:
        words[_number(kinds, option)] = 1.0
    thing = named[0] if named else None
    count = [float(len(shown) == number) for number in range(_MOST + 1)]
    when = [time, abs(time - 0.5), float(time < 0.07), float(time > 0.93)]
    states = [number for one in (thing, *asked) for number in _state(scene, one, time)]
    gaps = [_gap(scene, thing, asked[0], time), _gap(scene, asked[0], asked[1], time)]
    near = [_gap(scene, asked[0], other, time) for other in shown if other is not asked[0]]
    return [
        *words,
        *count,
        *when,
        *states,
        *gaps,
        min(near, default=3.0),
        *_fits(scene, asked, option, time),
    ]


def _state(scene: Scene, thing: Thing | None, time: float) -> list[float]:
    """Return ``_STATE`` features of an object: visible, centre, size and rotation.

    All are 0 if ``thing`` is None, that is, if the object cannot be seen at this time.
    """
    if thing is None:
        return [0.0] * _STATE
    (x, y), angle = centre(scene, thing, time), thing.angle(time)
    x, y = x / scene.settings.width - 0.5, y / scene.settings.height - 0.5
    size = radius(scene, thing, time) / 20
    return [1.0, x, y, size, float(size > 1), math.sin(4 * angle), math.cos(4 * angle)]


def _gap(scene: Scene, one: Thing | None, other: Thing | None, time: float) -> float:
    """Return the distance of two objects divided by the sum of their radii, at most 3.

    Return 3 if one of the objects is not visible.
    """
    if one is None or other is None:
        return 3.0
    reach = radius(scene, one, time) + radius(scene, other, time)
    return min(3.0, math.dist(centre(scene, one, time), centre(scene, other, time)) / reach)


def _fits(scene: Scene, asked: list[Thing | None], option: str, time: float) -> list[float]:
    """Return five features, each 0 or 1, that compare the answer option with the frame.

    The first four are 1 if the option is the colour, the shape, the quarter of the frame, or the
    side as seen from the second object ("left"), of the question's first object. The fifth is 1 if
    the option is the colour of any visible object.
    """
    first, second = asked
    shown = [t for t in scene.things if t.visible(time) and not hidden(scene, t, time)]
    fits = [0.0, 0.0, 0.0, 0.0, float(any(option == thing.colour for thing in shown))]
    if first is None:
        return fits
    x, y = centre(scene, first, time)
    fits[0], fits[1] = float(option == first.colour), float(option == first.shape)
    quarter = int(x > scene.settings.width / 2) + 2 * int(y > scene.settings.height / 2)
    fits[2] = float(option == PLACES[quarter])
    if second is not None:
        dx, dy = np.subtract((x, y), centre(scene, second, time))
        side = SIDES[int(dx > 0)] if abs(dx) > abs(dy) else SIDES[2 + int(dy > 0)]
        fits[3] = float(option == side)
    return fits


def _subjects(scene: Scene, question: Question) -> list[Thing]:
    """Return the objects of the scene that the question names, in the order of its words."""
    named = [word.group() for word in _WORDS.finditer(question.text)]
    found = (next((t for t in scene.things if word in (t.shape, t.colour)), None) for word in named)
    return list(dict.fromkeys(thing for thing in found if thing is not None))


def _number(kinds: list[str], kind: str) -> int:
    if kind not in kinds:
        kinds.append(kind)
    return kinds.index(kind)
