"""The background of a clip (its ground): a random texture with small grey dots.

The texture is a sum of random grids, each of few values. For each frame they are interpolated at
the part that the camera shows, so a pan or a zoom costs only two small matrix products per grid.
"""

from __future__ import annotations

import numpy as np

from gleanvid.glimpse.world.world import Shot

# For each random grid: number of values per side, and upper bound of the random standard deviation
# of its grey, in grey levels.
_LAYERS = ((4, 25.0), (10, 14.0), (40, 9.0))
_SPAN = 2.5  # height and width of the background, divided by those of the frame
_BYSTANDERS = 6


class Ground:
    """The background of one shot, from one cut to the next."""

    def __init__(self, shot: Shot, height: int, width: int) -> None:
        rng = np.random.default_rng(shot.ground_seed)
        self.shot, self.size = shot, (height, width)
        base = rng.uniform(30, 185) + rng.uniform(-20, 20, 3)
        self.base = base.astype(np.float32)
        self.grids = [_grid(rng, knots, strength) for knots, strength in _LAYERS]
        count = int(rng.integers(0, _BYSTANDERS + 1))
        # positions (y, x) of the dots in px, relative to the middle of the frame
        spots = rng.uniform(-0.6, 0.6, (count, 2)) * (height, width)
        radii = rng.uniform(2.5, 6.0, count)
        shades = base.mean() + rng.choice([-1, 1], count) * rng.uniform(35, 60, count)
        self.bystanders = list(zip(spots, radii, shades, strict=True))

    def at(self, time: float) -> np.ndarray:
        """Return the background at ``time``, float32 RGB [H, W, 3] in 0 to 255."""
        right, down = self.shot.pan
        shift = np.array((down, right)) * (time - 0.5)  # (y, x) of the camera in px
        zoom = self.shot.zoom ** (time - 0.5)
        rows, columns = (
            ((np.arange(side) + 0.5 - side / 2) / zoom + move) / (side * _SPAN) + 0.5
            for side, move in zip(self.size, shift, strict=True)
        )
        picture = np.broadcast_to(self.base, (*self.size, 3)).copy()
        for grid in self.grids:
            knots = grid.shape[0]
            across = np.tensordot(_weights(rows, knots), grid, 1)  # [H, values per side, 3]
            picture += np.einsum("wk,hkc->hwc", _weights(columns, knots), across, optimize=True)
        for spot, radius, shade in self.bystanders:
            y, x = (spot - shift) * zoom + np.array(self.size) / 2
            _dot(picture, y, x, radius * zoom, shade)
        return np.clip(picture, 5, 225)


def _grid(rng: np.random.Generator, knots: int, strength: float) -> np.ndarray:
    """Draw a grid of random colours, mostly grey: float32 [knots, knots, 3]."""
    grey = rng.normal(0, strength * rng.random(), (knots, knots, 1))
    tint = rng.normal(0, 0.25 * strength * rng.random(), (knots, knots, 3))
    return (grey + tint).astype(np.float32)


def _weights(places: np.ndarray, knots: int) -> np.ndarray:
    """Return a matrix for linear interpolation, [len(places), knots].

    It maps values at ``knots`` evenly spaced positions in [0, 1] to values at ``places``.
    """
    at = np.clip(places, 0, 1)[:, None] * (knots - 1) - np.arange(knots)
    return np.maximum(0, 1 - np.abs(at)).astype(np.float32)


def _dot(picture: np.ndarray, y: float, x: float, radius: float, shade: float) -> None:
    """Paint a round grey dot into ``picture``."""
    height, width = picture.shape[:2]
    reach = radius + 1
    top, bottom = max(0, int(y - reach)), min(height, int(y + reach) + 2)
    left, right = max(0, int(x - reach)), min(width, int(x + reach) + 2)
    if top >= bottom or left >= right:
        return
    rows = np.arange(top, bottom)[:, None] + 0.5 - y
    columns = np.arange(left, right)[None, :] + 0.5 - x
    alpha = np.clip(radius - np.hypot(rows, columns) + 0.5, 0, 1)[..., None]
    part = picture[top:bottom, left:right]
    part += (alpha * (shade - part)).astype(np.float32)
