"""The Glimpse world: what a clip shows, as data. Nothing is rendered here.

A scene depends on (seed, split, index) and on :class:`ClipSettings` alone. Splits use different
random streams. Time runs from 0 to 1 over a clip.

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
MOST_FRAMES = 64
SPLITS = ("train", "validation", "test")
FRAMES_PER_UNIT = 2
ALWAYS = ((0.0, 1.0),)


@dataclass(frozen=True)
class ClipSettings:
    """Size and length of a clip.

    Raises:
        ValueError: a number is out of its range.
    """

    height: int = 160  # height and width are in px
    width: int = 160
    num_frames: int = 32

    def __post_init__(self) -> None:
        for label in ("height", "width"):
            if (side := getattr(self, label)) < 80 or side % 16:
                raise ValueError(f"{label}={side} must be a multiple of 16 pixels, at least 80")
        if not 2 <= self.num_frames <= MOST_FRAMES or self.num_frames % FRAMES_PER_UNIT:
            raise ValueError(
                f"num_frames={self.num_frames} must be an even number from 2 to {MOST_FRAMES}"
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

    The camera's motion moves only the background in the frame. ``pan``: its movement from time 0 to
    1, in px; ``zoom``: magnification at time 1 divided by that at time 0.
    """

    start: float
    end: float
    ground_seed: int
    pan: tuple[float, float]
    zoom: float


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

    def times(self) -> np.ndarray:
        """Return the time in the middle of every frame, float64 [F] in (0, 1)."""
        count = self.settings.num_frames
        return (np.arange(count) + 0.5) / count


def stream(seed: int, split: str, index: int, purpose: int = 0) -> np.random.Generator:
    """Return the random number generator of a clip: purpose 0 for its scene, 1 for its questions.

    Raises ``ValueError`` if the split is unknown.
    """
    if split not in SPLITS:
        raise ValueError(f"split={split!r} must be one of {', '.join(SPLITS)}")
    return np.random.default_rng([seed, SPLITS.index(split), index, purpose])
