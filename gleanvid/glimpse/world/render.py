"""Render scenes, and measure how much of every visual token each object covers.

Letters in shapes: F frames, K objects, H and W height and width in px.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from gleanvid.glimpse.world.ground import Ground
from gleanvid.glimpse.world.shapes import DISTANCES
from gleanvid.glimpse.world.world import COLOURS, Scene, Thing

_REACH = 1.45  # largest extent of any rotated shape, in radii
Box = tuple[slice, slice]


def render(scene: Scene) -> np.ndarray:
    """Render the frames of a scene, uint8 [F, H, W, 3]."""
    height, width = scene.settings.height, scene.settings.width
    rng = np.random.default_rng(scene.paint_seed)
    grounds = [Ground(shot, height, width) for shot in scene.shots]
    colours = _tints(rng, scene)
    phase = rng.uniform(0, 2 * np.pi)
    grain = rng.normal(0, 1, (height, width, 3)).astype(np.float32) * scene.noise
    frames = np.empty((scene.settings.num_frames, height, width, 3), dtype=np.uint8)
    for f, time in enumerate(scene.times()):
        picture = next(g for g in grounds if time < g.shot.end or g is grounds[-1]).at(time)
        for k, box, alpha in _stamps(scene, time):
            picture[box] += alpha[..., None] * (colours[k] - picture[box])
        picture *= 1 + scene.flicker * math.sin(2 * math.pi * time + phase)
        if scene.noise:
            picture += np.roll(grain, rng.integers(height * width * 3))
        frames[f] = np.clip(picture, 0, 255)
    return frames


def coverage(scene: Scene, rows: int, columns: int) -> np.ndarray:
    """Return the fraction of every cell of a grid that each object visibly covers.

    The result is float32 [F, K, rows, columns]. A cell is the rectangle of the frame that a visual
    token stands for; it need not be a whole number of px in size.
    """
    height, width = scene.settings.height, scene.settings.width
    down, across = _pooling(height, rows), _pooling(width, columns)
    shares = []
    for time in scene.times():
        covers = np.zeros((len(scene.things), height, width), dtype=np.float32)
        for k, box, alpha in _stamps(scene, time):
            covers[(slice(k, None), *box)] *= 1 - alpha
            covers[(k, *box)] = alpha
        shares.append(down @ covers @ across.T)
    return np.stack(shares)


def _pooling(pixels: int, cells: int) -> np.ndarray:
    """Return a matrix that averages pixels over ``cells`` equal parts, float32 [cells, pixels]."""
    edges = np.arange(cells + 1)[:, None] * pixels / cells
    inside = np.clip(edges[1:] - np.arange(pixels), 0, 1) - np.clip(
        edges[:-1] - np.arange(pixels), 0, 1
    )
    return (inside * cells / pixels).astype(np.float32)


def boxes(scene: Scene, time: float) -> dict[int, tuple[float, float, float, float]]:
    """Return the bounding box of every object that is there at ``time``, by the object's index.

    A box is (left, top, right, bottom) in px. An object hidden behind another one has a box, too.
    """
    height, width = scene.settings.height, scene.settings.width
    found = {}
    for k, thing in enumerate(scene.things):
        if thing.visible(time):
            (x, y), reach = thing.centre(time), thing.radius(time)
            sides = (x - reach, y - reach, x + reach, y + reach)
            limits = (width, height, width, height)
            found[k] = tuple(float(np.clip(s, 0, m)) for s, m in zip(sides, limits, strict=True))
    return found  # type: ignore[return-value]


def _tints(rng: np.random.Generator, scene: Scene) -> list[np.ndarray]:
    """Return the RGB colour of each object, float32 [3].

    Each named colour, such as "red", gets a small random shift per scene.
    """
    shift = {colour: rng.uniform(-12, 12, 3) for colour in COLOURS}
    tints = [np.array(COLOURS[thing.colour]) + shift[thing.colour] for thing in scene.things]
    return [np.clip(tint, 0, 255).astype(np.float32) for tint in tints]


def _stamps(scene: Scene, time: float) -> Iterator[tuple[int, Box, np.ndarray]]:
    """Yield (index, rectangle, opacity per pixel) of every visible object, from back to front."""
    height, width = scene.settings.height, scene.settings.width
    for k in reversed(range(len(scene.things))):
        if scene.things[k].visible(time):
            yield k, *_stamp(scene.things[k], time, height, width)


def _stamp(thing: Thing, time: float, height: int, width: int) -> tuple[Box, np.ndarray]:
    """Return a rectangle that contains an object, and the object's opacity (0 to 1) per pixel."""
    (x, y), size, angle = thing.centre(time), thing.radius(time), thing.angle(time)
    reach = _REACH * size + 1
    top, bottom = max(0, int(y - reach)), min(height, int(y + reach) + 2)
    left, right = max(0, int(x - reach)), min(width, int(x + reach) + 2)
    rows = (np.arange(top, bottom, dtype=np.float32)[:, None] + 0.5 - y) / size
    columns = (np.arange(left, right, dtype=np.float32)[None, :] + 0.5 - x) / size
    columns, rows = np.broadcast_arrays(columns, rows)
    if angle:
        cos, sin = math.cos(angle), math.sin(angle)
        columns, rows = columns * cos + rows * sin, rows * cos - columns * sin
    alpha = np.clip(0.5 - DISTANCES[thing.shape](columns, rows) * size, 0, 1)
    return (slice(top, bottom), slice(left, right)), alpha.astype(np.float32)
