"""Render scenes, and measure how much of every visual token each object covers.

A cell is the rectangle of the frame that a visual token stands for. Letters in shapes: F frames,
K objects, H and W height and width in px.
"""

from __future__ import annotations

import math

import numpy as np

from gleanvid.glimpse.world.camera import centre, light, radius
from gleanvid.glimpse.world.ground import Ground
from gleanvid.glimpse.world.shapes import DISTANCES
from gleanvid.glimpse.world.world import COLOURS, Post, Scene, Thing

_REACH = 1.45  # largest extent of any rotated shape, in radii
Box = tuple[slice, slice]


def render(scene: Scene, cell: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Render a scene.

    Returns:
        Frames uint8 [F, H, W, 3]. Then the fraction of every cell, ``cell`` px wide and high, that
        each object visibly covers: float32 [F, K, H/cell, W/cell].

    Raises:
        ValueError: height or width is no multiple of ``cell``.
    """
    settings = scene.settings
    height, width, count = settings.height, settings.width, settings.num_frames
    if height % cell or width % cell:
        raise ValueError(f"height={height} and width={width} must be multiples of {cell} pixels")
    rng = np.random.default_rng(scene.paint_seed)
    grounds = [Ground(shot, height, width) for shot in scene.shots]
    colours = _tints(rng, scene)
    phase = rng.uniform(0, 2 * np.pi)
    grain = rng.normal(0, 1, (height, width, 3)).astype(np.float32) * scene.noise
    frames = np.empty((count, height, width, 3), dtype=np.uint8)
    cells = (height // cell, cell, width // cell, cell)
    shares = np.zeros((count, len(scene.things), cells[0], cells[2]), dtype=np.float32)
    for f, time in enumerate(scene.times()):
        picture = next(g for g in grounds if time < g.shot.end or g is grounds[-1]).at(time)
        covers = _paint(scene, time, picture, colours)
        shares[f] = covers.reshape(-1, *cells).mean(axis=(2, 4))
        picture *= 1 + scene.flicker * math.sin(2 * math.pi * time + phase)
        picture *= light(scene, time)
        if scene.noise:
            picture += np.roll(grain, rng.integers(height * width * 3))
        frames[f] = np.clip(picture, 0, 255)
    return frames, shares


def _paint(scene: Scene, time: float, picture: np.ndarray, colours: list[np.ndarray]) -> np.ndarray:
    """Paint every object that is there into ``picture``, then the posts.

    Returns how much of every pixel each object visibly covers, float32 [K, H, W] in 0 to 1.
    """
    height, width = picture.shape[:2]
    covers = np.zeros((len(scene.things), height, width), dtype=np.float32)
    for k in reversed(range(len(scene.things))):  # the first object is painted last, on top
        if scene.things[k].visible(time):
            box, alpha = _stamp(scene, scene.things[k], time, height, width)
            picture[box] += alpha[..., None] * (colours[k] - picture[box])
            covers[(slice(k, None), *box)] *= 1 - alpha
            covers[(k, *box)] = alpha
    for post in scene.posts:
        box = _bar(post, time)
        picture[box] = post.shade
        covers[(slice(None), *box)] = 0
    return covers


def _bar(post: Post, time: float) -> Box:
    begin = round(post.middle(time) - post.thickness / 2)
    across = slice(max(0, begin), max(0, begin + round(post.thickness)))
    return (slice(None), across) if post.upright else (across, slice(None))


def coverage(scene: Scene, rows: int, columns: int) -> np.ndarray:
    """Return the fraction of every cell of a grid that each object visibly covers.

    The result is float32 [F, K, rows, columns]. Cells need not be whole numbers of px in size.
    """
    settings = scene.settings
    blank = np.zeros((settings.height, settings.width, 3), np.float32)
    black = [np.zeros(3, np.float32)] * len(scene.things)
    down = _pooling(settings.height, rows)
    across = _pooling(settings.width, columns)
    shares = [down @ _paint(scene, time, blank, black) @ across.T for time in scene.times()]
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
            (x, y), reach = centre(scene, thing, time), radius(scene, thing, time)
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


def _stamp(
    scene: Scene, thing: Thing, time: float, height: int, width: int
) -> tuple[Box, np.ndarray]:
    """Return a rectangle that contains an object, and the object's opacity (0 to 1) per pixel."""
    (x, y), size, angle = centre(scene, thing, time), radius(scene, thing, time), thing.angle(time)
    reach = _REACH * size + 1
    top, bottom = max(0, int(y - reach)), max(0, min(height, int(y + reach) + 2))
    left, right = max(0, int(x - reach)), max(0, min(width, int(x + reach) + 2))
    top, left = min(top, bottom), min(left, right)  # an object outside the frame has no pixels
    rows = (np.arange(top, bottom, dtype=np.float32)[:, None] + 0.5 - y) / size
    columns = (np.arange(left, right, dtype=np.float32)[None, :] + 0.5 - x) / size
    columns, rows = np.broadcast_arrays(columns, rows)
    if angle:
        cos, sin = math.cos(angle), math.sin(angle)
        columns, rows = columns * cos + rows * sin, rows * cos - columns * sin
    alpha = np.clip(0.5 - DISTANCES[thing.shape](columns, rows) * size, 0, 1)
    return (slice(top, bottom), slice(left, right)), alpha.astype(np.float32)
