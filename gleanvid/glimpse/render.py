"""Paints scenes: signed distances to anti-aliased pixels, and which token sees which object.

F frames, K objects, H and W pixels.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gleanvid.glimpse.world import COLOURS, Scene, Thing

Plane = np.ndarray
Distance = Callable[[Plane, Plane], Plane]


def _circle(x: Plane, y: Plane) -> Plane:
    return np.hypot(x, y) - 0.95


def _ring(x: Plane, y: Plane) -> Plane:
    return np.abs(np.hypot(x, y) - 0.74) - 0.24


def _square(x: Plane, y: Plane) -> Plane:
    return np.maximum(np.abs(x), np.abs(y)) - 0.84


def _diamond(x: Plane, y: Plane) -> Plane:
    return (np.abs(x) * 1.2 + np.abs(y) - 1.1) * 0.64


def _triangle(x: Plane, y: Plane) -> Plane:
    y = y - 0.15
    return np.maximum(0.866 * np.abs(x) - 0.5 * y, y) - 0.58


def _cross(x: Plane, y: Plane) -> Plane:
    x, y = np.abs(x), np.abs(y)
    return np.minimum(np.maximum(x - 0.32, y - 1.0), np.maximum(y - 0.32, x - 1.0))


def _star(x: Plane, y: Plane) -> Plane:
    sector = 2 * np.pi / 5
    angle = np.abs((np.arctan2(x, -y) + sector / 2) % sector - sector / 2)
    radius = np.hypot(x, y)
    outer, inner = 1.15, 0.5
    tip = np.array([outer, 0.0])
    notch = inner * np.array([np.cos(sector / 2), np.sin(sector / 2)])
    edge = notch - tip
    normal = np.array([edge[1], -edge[0]]) / np.hypot(*edge)  # points away from the centre
    return (radius * np.cos(angle) - tip[0]) * normal[0] + radius * np.sin(angle) * normal[1]


def _heart(x: Plane, y: Plane) -> Plane:
    x, y = x / 1.2, (-y + 0.12) / 1.2
    u, v = (x + y) * 0.7071 + 0.12, (y - x) * 0.7071 + 0.12
    body = np.maximum(np.abs(u), np.abs(v)) - 0.5
    lobes = np.minimum(np.hypot(u - 0.5, v), np.hypot(u, v - 0.5)) - 0.5
    return np.minimum(body, lobes) * 1.2


DISTANCES: dict[str, Distance] = {
    "circle": _circle,
    "square": _square,
    "triangle": _triangle,
    "star": _star,
    "cross": _cross,
    "ring": _ring,
    "heart": _heart,
    "diamond": _diamond,
}


def render(scene: Scene, cell: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Frames uint8 [F, H, W, 3], and how much of every token cell each object visibly covers,
    float32 [F, K, H/cell, W/cell]. Raises ``ValueError`` on a size that cells do not divide.
    """
    settings = scene.settings
    height, width, count = settings.height, settings.width, settings.num_frames
    if height % cell or width % cell:
        raise ValueError(f"height={height} and width={width} must be multiples of {cell} pixels")
    rng = np.random.default_rng(scene.texture_seed)
    background = texture(rng, height, width)
    colours = [_tint(rng, thing) for thing in scene.things]
    frames = np.empty((count, height, width, 3), dtype=np.uint8)
    cells = (height // cell, cell, width // cell, cell)
    shares = np.zeros((count, len(scene.things), cells[0], cells[2]), dtype=np.float32)
    for f in range(count):
        picture = background.copy()
        covers = np.zeros((len(scene.things), height, width), dtype=np.float32)
        for k, thing in enumerate(scene.things):
            box, alpha = _stamp(thing, f / (count - 1), height, width)
            picture[box] += alpha[..., None] * (colours[k] - picture[box])
            covers[(slice(k), *box)] *= 1 - alpha  # a later object hides the earlier ones
            covers[(k, *box)] = alpha
        shares[f] = covers.reshape(-1, *cells).mean(axis=(2, 4))
        frames[f] = np.clip(picture, 0, 255)
    return frames, shares


def texture(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """A muted, mildly textured ground, float32 [H, W, 3]."""
    base = rng.uniform(25, 190) + rng.uniform(-22, 22, 3)
    ground = np.broadcast_to(base, (height, width, 3)).astype(np.float32)
    for knots, strength in ((3, 25.0), (7, 14.0), (21, 9.0)):
        grid = rng.normal(0, strength * rng.random(), (knots, knots, 1))
        grid = grid + rng.normal(0, 0.25 * strength * rng.random(), (knots, knots, 3))
        ground = ground + _stretch(grid.astype(np.float32), height, width)
    return np.clip(ground, 5, 225)


def _stretch(grid: np.ndarray, height: int, width: int) -> np.ndarray:
    """Bilinear upsampling of [n, n, 3] to [H, W, 3]."""
    rows = _weights(grid.shape[0], height)
    columns = _weights(grid.shape[1], width)
    return np.tensordot(columns, np.tensordot(rows, grid, 1), (1, 1)).transpose(1, 0, 2)


def _weights(knots: int, length: int) -> np.ndarray:
    """float32 [length, knots]: linear interpolation as a matrix."""
    places = np.linspace(0, knots - 1, length, dtype=np.float32)
    return np.maximum(0, 1 - np.abs(places[:, None] - np.arange(knots, dtype=np.float32)))


def _tint(rng: np.random.Generator, thing: Thing) -> np.ndarray:
    """The object's colour with a little variation, float32 [3]."""
    colour = np.array(COLOURS[thing.colour]) + rng.uniform(-12, 12, 3)
    return np.clip(colour, 0, 255).astype(np.float32)


def _stamp(
    thing: Thing, time: float, height: int, width: int
) -> tuple[tuple[slice, slice], np.ndarray]:
    """The rectangle an object touches and its coverage alpha there."""
    x, y = thing.centre(time)
    reach = 1.25 * thing.radius + 1
    top, bottom = max(0, int(y - reach)), min(height, int(y + reach) + 2)
    left, right = max(0, int(x - reach)), min(width, int(x + reach) + 2)
    rows = (np.arange(top, bottom, dtype=np.float32)[:, None] + 0.5 - y) / thing.radius
    columns = (np.arange(left, right, dtype=np.float32)[None, :] + 0.5 - x) / thing.radius
    columns, rows = np.broadcast_arrays(columns, rows)
    distance = DISTANCES[thing.shape](columns, rows) * thing.radius
    alpha = np.clip(0.5 - distance, 0, 1).astype(np.float32)
    return (slice(top, bottom), slice(left, right)), alpha
