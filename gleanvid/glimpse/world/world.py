"""The Glimpse world: what a clip shows, as data. Nothing is rendered here.

A scene depends on (seed, split, index) and on :class:`ClipSettings` alone. Splits and versions use
different random streams. Time runs from 0 to 1 over a clip.

Objects appear and disappear, and cuts happen, on the border of a temporal unit (two frames). So an
object that is there for one unit is seen in exactly one temporal unit of the model. The scenes are
drawn in :mod:`.scenes`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

SHAPES = ("circle", "square", "triangle", "star", "cross", "ring", "heart", "diamond")
ROUND = ("circle", "ring")  # shapes that look the same when they turn
COLOURS: dict[str, tuple[int, int, int]] = {
    "red": (215, 25, 30),
    "orange": (245, 135, 15),
    "yellow": (245, 225, 40),
    "green": (30, 160, 50),
    "blue": (30, 70, 225),
    "purple": (125, 35, 165),
    "pink": (255, 140, 195),
    "white": (248, 248, 248),
}
SIZES = {"small": 26, "medium": 34, "large": 44}  # name of a size -> diameter in px
_DIAGONAL = math.sqrt(0.5)
DIRECTIONS: dict[str, tuple[float, float]] = {  # name -> unit vector (x to the right, y downwards)
    "left": (-1.0, 0.0),
    "right": (1.0, 0.0),
    "up": (0.0, -1.0),
    "down": (0.0, 1.0),
    "up-left": (-_DIAGONAL, -_DIAGONAL),
    "up-right": (_DIAGONAL, -_DIAGONAL),
    "down-left": (-_DIAGONAL, _DIAGONAL),
    "down-right": (_DIAGONAL, _DIAGONAL),
}
# Behaviours of a single object; two objects can also collide.
BEHAVIOURS = (
    "stands",
    "moves",
    "grows",
    "shrinks",
    "turns",
    "blinks",
    "bounces",
    "arrives",
    "leaves",
    "flashes",
)
CHANGES = ("colour", "shape", "size", "place")  # what can change about one object at a cut
MOST_FRAMES = {1: 64, 2: 128}  # version of Glimpse -> largest number of frames of a clip
SPLITS = ("train", "validation", "test")
FRAMES_PER_UNIT = 2
ALWAYS = ((0.0, 1.0),)


@dataclass(frozen=True)
class ClipSettings:
    """Size and length of a clip, and the version of Glimpse, 1 or 2.

    Version 2 adds stories: scenes whose questions no single frame can answer.

    Raises:
        ValueError: a number is out of its range.
    """

    height: int = 160  # height and width are in px
    width: int = 160
    num_frames: int = 32
    version: int = 1

    def __post_init__(self) -> None:
        for label in ("height", "width"):
            if getattr(self, label) < 80:
                raise ValueError(f"{label}={getattr(self, label)} must be at least 80 pixels")
        if self.version not in MOST_FRAMES:
            raise ValueError(f"version={self.version} must be 1 or 2")
        most = MOST_FRAMES[self.version]
        if not 2 <= self.num_frames <= most or self.num_frames % FRAMES_PER_UNIT:
            raise ValueError(
                f"num_frames={self.num_frames} must be an even number from 2 to {most}"
            )

    @property
    def num_units(self) -> int:
        return self.num_frames // FRAMES_PER_UNIT


@dataclass(frozen=True)
class Thing:
    """One object of the Glimpse world.

    ``path``: points (time, x, y) in px, between which the centre moves in straight lines;
    ``spans``: pairs (start, end) of times between which the object is there; ``growth``: diameter
    at time 1 divided by that at time 0.
    """

    shape: str
    colour: str
    size: str
    behaviour: str
    path: tuple[tuple[float, float, float], ...]
    spans: tuple[tuple[float, float], ...] = ALWAYS
    direction: str | None = None  # name of the direction of an object with one straight path
    growth: float = 1.0
    turns: float = 0.0  # full rotations over the clip
    repeats: int = 0  # number of blinks or bounces

    def centre(self, time: float) -> tuple[float, float]:
        """Return the centre (x, y) in px at ``time``, interpolated linearly on ``path``."""
        time = float(time)  # plain floats are faster here than numpy.interp
        if time > self.path[0][0]:
            for (start, x, y), (end, next_x, next_y) in pairwise(self.path):
                if time < end:
                    since = time - start
                    x_slope, y_slope = (next_x - x) / (end - start), (next_y - y) / (end - start)
                    return x_slope * since + x, y_slope * since + y
            return self.path[-1][1:]
        return self.path[0][1:]

    def radius(self, time: float) -> float:
        """Return the radius in px at ``time``.

        If the object grows or shrinks, the mean radius over the clip is that of its ``size``.
        """
        mean = SIZES[self.size] / 2
        low = 2 * mean / (1 + self.growth)
        return low * (1 + (self.growth - 1) * time)

    def angle(self, time: float) -> float:
        """Return the rotation angle in radians, clockwise in the frame."""
        return 2 * math.pi * self.turns * time

    def visible(self, time: float) -> bool:
        return any(start <= time < end for start, end in self.spans)

    @property
    def appears(self) -> float:
        return self.spans[0][0]

    @property
    def ends(self) -> float:
        return self.spans[-1][1]


@dataclass(frozen=True)
class Shot:
    """The part of a clip from one cut to the next: a background, filmed by a camera.

    ``pan``: the camera's movement from time 0 to 1, in px; ``zoom``: magnification at time 1
    divided by that at time 0.

    The next fields are used only in version 2. ``shake``: strength of the camera's shake, in px;
    ``carries``: whether the camera's motion moves the objects in the frame, too; ``drift``: own
    movement of the background from time 0 to 1, in px; ``light``: brightness factors at times 0
    and 1.
    """

    start: float
    end: float
    ground_seed: int
    pan: tuple[float, float]
    zoom: float
    shake: float = 0.0
    carries: bool = False
    drift: tuple[float, float] = (0.0, 0.0)
    light: tuple[float, float] = (1.0, 1.0)


@dataclass(frozen=True)
class Post:
    """A grey bar in front of all objects, across the whole frame. No question is about it.

    The bar is vertical if ``upright``, else horizontal; its middle moves from ``begins`` to
    ``ends`` (px) over the clip.
    """

    upright: bool
    begins: float
    ends: float
    thickness: float
    shade: float

    def middle(self, time: float) -> float:
        """Return the middle of the bar in px: from the left if upright, else from the top."""
        return self.begins + (self.ends - self.begins) * time


@dataclass(frozen=True)
class Change:
    """What changes about an object at a cut.

    ``before`` and ``after``: index in ``Scene.things`` of the object before and after the cut. The
    two differ in the property ``what`` alone.
    """

    what: str  # one of CHANGES
    before: int
    after: int


@dataclass(frozen=True)
class Scene:
    """The ground truth of one clip. Earlier ``things`` are in front of later ones.

    ``flicker``: strength of a slow change of the brightness; ``noise``: standard deviation of the
    noise that is added to every pixel, in grey levels.
    """

    settings: ClipSettings
    theme: str
    things: tuple[Thing, ...]
    shots: tuple[Shot, ...]
    change: Change | None
    flicker: float
    noise: float
    paint_seed: int
    posts: tuple[Post, ...] = ()

    def times(self) -> np.ndarray:
        """Return the time in the middle of every frame, float64 [F] in (0, 1)."""
        count = self.settings.num_frames
        return (np.arange(count) + 0.5) / count


def stream(
    seed: int, split: str, index: int, purpose: int = 0, version: int = 1
) -> np.random.Generator:
    """Return the random number generator of a clip for one purpose.

    Purpose 0 is the scene, 1 the questions, 2 the size of a training batch.

    Raises ``ValueError`` if the split is unknown.
    """
    if split not in SPLITS:
        raise ValueError(f"split={split!r} must be one of {', '.join(SPLITS)}")
    key = [seed, SPLITS.index(split), index, purpose]
    return np.random.default_rng(key if version == 1 else [*key, version])
