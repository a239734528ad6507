"""The Glimpse world: what is in a clip, decided before a single pixel is drawn.

A scene is a function of (seed, split, index) and of :class:`ClipSettings` alone. Splits use
disjoint random streams. Time runs from 0 (first frame) to 1 (last frame), so one scene can be
sampled at any number of frames. This module knows no pixels and no questions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

SHAPES = ("circle", "square", "triangle", "star", "cross", "ring", "heart", "diamond")
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
SIZES = {"small": 26, "medium": 34, "large": 44}  # diameter in px
_DIAGONAL = math.sqrt(0.5)
DIRECTIONS: dict[str, tuple[float, float]] = {  # (x to the right, y downwards)
    "left": (-1.0, 0.0),
    "right": (1.0, 0.0),
    "up": (0.0, -1.0),
    "down": (0.0, 1.0),
    "up-left": (-_DIAGONAL, -_DIAGONAL),
    "up-right": (_DIAGONAL, -_DIAGONAL),
    "down-left": (-_DIAGONAL, _DIAGONAL),
    "down-right": (_DIAGONAL, _DIAGONAL),
}
SPLITS = ("train", "validation", "test")
_TURN = math.radians(7)  # how far a path may be off its named direction
_CLEARANCE = 0.95  # least distance between two centres, in sums of radii


@dataclass(frozen=True)
class ClipSettings:
    """Size and pace of a clip. ``height`` and ``width`` in px, steps in px per frame."""

    height: int = 160
    width: int = 160
    num_frames: int = 16
    min_step: float = 1.5
    max_step: float = 8.0

    def __post_init__(self) -> None:
        for label in ("height", "width"):
            if getattr(self, label) < 64:
                raise ValueError(f"{label}={getattr(self, label)} must be at least 64 pixels")
        if self.num_frames < 2:
            raise ValueError(f"num_frames={self.num_frames} must be at least 2")
        if not 0 < self.min_step <= self.max_step:
            raise ValueError(f"min_step={self.min_step} must be in (0, max_step={self.max_step}]")


@dataclass(frozen=True)
class Thing:
    """One object: centres (x, y) in px at both ends; without ``direction`` it stands still."""

    shape: str
    colour: str
    size: str
    start: tuple[float, float]
    end: tuple[float, float]
    direction: str | None

    @property
    def radius(self) -> float:
        return SIZES[self.size] / 2

    @property
    def moves(self) -> bool:
        return self.direction is not None

    def centre(self, time: float) -> tuple[float, float]:
        """(x, y) in px at ``time`` in [0, 1]."""
        (x0, y0), (x1, y1) = self.start, self.end
        return x0 + (x1 - x0) * time, y0 + (y1 - y0) * time


@dataclass(frozen=True)
class Scene:
    """Everything that is true in one clip; ``texture_seed`` is for the painter alone."""

    settings: ClipSettings
    things: tuple[Thing, ...]
    texture_seed: int

    @property
    def movers(self) -> tuple[Thing, ...]:
        return tuple(thing for thing in self.things if thing.moves)


def stream(seed: int, split: str, index: int) -> np.random.Generator:
    """The random stream of one clip. Raises ``ValueError`` on an unknown split."""
    if split not in SPLITS:
        raise ValueError(f"split={split!r} must be one of {', '.join(SPLITS)}")
    return np.random.default_rng([seed, SPLITS.index(split), index])


def sample_scene(seed: int, split: str, index: int, settings: ClipSettings | None = None) -> Scene:
    """The scene of (seed, split, index): one or two objects that differ in shape and in colour."""
    settings = settings or ClipSettings()
    rng = stream(seed, split, index)
    count = 1 if rng.random() < 0.35 else 2
    shapes = rng.permutation(len(SHAPES))[:count]
    colours = rng.permutation(len(COLOURS))[:count]
    moving = [rng.random() < 0.85] if count == 1 else [True, rng.random() < 0.5]
    things: list[Thing] = []
    for shape, colour, moves in zip(shapes, colours, moving, strict=True):
        names = (SHAPES[shape], list(COLOURS)[colour])
        for _ in range(30):
            thing = _sample_thing(rng, settings, names, bool(moves))
            if all(_apart(thing, other) for other in things):
                things.append(thing)
                break
    order = rng.permutation(len(things))  # which one is painted on top
    return Scene(settings, tuple(things[i] for i in order), int(rng.integers(2**31)))


def _sample_thing(
    rng: np.random.Generator, settings: ClipSettings, names: tuple[str, str], moves: bool
) -> Thing:
    """One object whose whole path stays inside the picture."""
    size = list(SIZES)[rng.integers(len(SIZES))]
    margin = SIZES[size] / 2
    room = np.array([settings.width, settings.height]) - 2 * margin
    direction, shift = None, np.zeros(2)
    if moves:
        direction = list(DIRECTIONS)[rng.integers(len(DIRECTIONS))]
        shift = _sample_shift(rng, settings, direction, room)
    low = margin + np.maximum(0.0, -shift)
    start = low + rng.random(2) * (room - np.abs(shift))
    end = start + shift
    return Thing(*names, size, _pair(start), _pair(end), direction)


def _sample_shift(
    rng: np.random.Generator, settings: ClipSettings, direction: str, room: np.ndarray
) -> np.ndarray:
    """The displacement (x, y) in px from the first frame to the last."""
    x, y = DIRECTIONS[direction]
    angle = math.atan2(y, x) + rng.uniform(-_TURN, _TURN)
    heading = np.array([math.cos(angle), math.sin(angle)])
    longest = 0.95 * float(np.min(room / np.maximum(np.abs(heading), 1e-6)))
    steps = settings.num_frames - 1
    low = settings.min_step
    high = max(low, min(settings.max_step, longest / steps))
    length = steps * math.exp(rng.uniform(math.log(low), math.log(high)))
    return heading * min(length, longest)


def _apart(first: Thing, second: Thing) -> bool:
    """True if the two never come closer than their sizes allow."""
    least = _CLEARANCE * (first.radius + second.radius)
    times = np.linspace(0.0, 1.0, 9)
    return all(math.dist(first.centre(t), second.centre(t)) >= least for t in times)


def _pair(values: np.ndarray) -> tuple[float, float]:
    return float(values[0]), float(values[1])
