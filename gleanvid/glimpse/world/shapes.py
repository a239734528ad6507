"""The eight shapes as functions of (x, y) that return a signed distance to the shape's edge.

The distance is negative inside. Distances and coordinates are in units of the object's radius; x
goes to the right and y downwards from the centre.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

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
    normal = np.array([edge[1], -edge[0]]) / np.hypot(*edge)  # outward normal of the star's edge
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
