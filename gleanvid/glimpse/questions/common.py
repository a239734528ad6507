"""Where an answer is to be seen, and which things of a scene may be asked about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from gleanvid.glimpse.world.world import Scene, Thing


@dataclass(frozen=True)
class Evidence:
    """Where the answer is to be seen: a thing of the scene, from ``start`` to ``end`` in [0, 1]."""

    thing: int
    start: float
    end: float


class EvidenceFacts(TypedDict):
    """:class:`Evidence` as files of clips hold it, in seconds."""

    thing: int
    start_s: float
    end_s: float


def stable(scene: Scene) -> list[tuple[int, Thing]]:
    """Things that no cut changes, with their numbers."""
    change = scene.change
    changed = () if change is None else (change.before, change.after)
    return [(k, thing) for k, thing in enumerate(scene.things) if k not in changed]


def evenly_cast(scene: Scene, theme: str) -> list[tuple[int, Thing]]:
    """Things whose behaviour was drawn evenly: the first of the theme, and all of a medley."""
    if scene.theme == "medley":
        return list(enumerate(scene.things))
    return [(0, scene.things[0])] if scene.theme == theme else []


def whole(thing: Thing, k: int) -> tuple[Evidence, ...]:
    """The thing for as long as it is there."""
    return (Evidence(k, thing.appears, thing.ends),)


def everything(scene: Scene) -> tuple[Evidence, ...]:
    """All things for as long as they are there."""
    return tuple(Evidence(k, t.appears, t.ends) for k, t in enumerate(scene.things))


def touches_another(scene: Scene, asked: Sequence[int]) -> bool:
    """Whether a thing that is asked about ever overlaps one that is not."""
    things = scene.things
    pairs = [(things[k], other) for k in asked for other in things[len(asked) :]]
    return any(
        math.dist(one.centre(time), other.centre(time)) < one.radius(time) + other.radius(time)
        for time in scene.times()
        for one, other in pairs
    )
