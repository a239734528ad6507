"""Names of things, answer options and evidence, shared by all families of questions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from gleanvid.glimpse.world.world import COLOURS, SHAPES, Scene, Thing


@dataclass(frozen=True)
class Evidence:
    """Evidence of an answer: a thing of the scene, visible from ``start`` to ``end`` in [0, 1]."""

    thing: int
    start: float
    end: float


class EvidenceFacts(TypedDict):
    """:class:`Evidence` as written to ``questions.jsonl``, with times in seconds."""

    thing: int
    start_s: float
    end_s: float


def unchanged(scene: Scene) -> list[tuple[int, Thing]]:
    """Return (index in ``scene.things``, thing) for every thing that no cut changes."""
    change = scene.change
    changed = () if change is None else (change.before, change.after)
    return [(k, thing) for k, thing in enumerate(scene.things) if k not in changed]


def evenly_cast(scene: Scene, theme: str) -> list[tuple[int, Thing]]:
    """Return (index in ``scene.things``, thing) for things whose behaviour was drawn uniformly.

    In scenes of the theme "medley" these are all things, in scenes of ``theme`` the first thing,
    in other scenes none.
    """
    if scene.theme == "medley":
        return list(enumerate(scene.things))
    return [(0, scene.things[0])] if scene.theme == theme else []


def lifetime(thing: Thing, k: int) -> tuple[Evidence, ...]:
    """Return the evidence that shows a thing for its whole lifetime."""
    return (Evidence(k, thing.appears, thing.ends),)


def lifetimes(scene: Scene) -> tuple[Evidence, ...]:
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


def name(thing: Thing) -> str:
    """Return the name of a thing, such as "red circle"."""
    return f"{thing.colour} {thing.shape}"


def refer_to(rng: np.random.Generator, thing: Thing) -> str:
    """Draw a name of the thing, such as "circle", that no other thing of its scene has."""
    if thing.behaviour == "turns":
        return f"{thing.colour} object"
    return draw(rng, thing.shape, f"{thing.colour} object", name(thing))


def draw(rng: np.random.Generator, *wordings: str) -> str:
    """Draw one wording of a question at random."""
    return wordings[rng.integers(len(wordings))]


def options_for(
    rng: np.random.Generator, names: Sequence[str] | Mapping[str, object], answer: str
) -> list[str]:
    """Return ``answer`` and three other ``names``, drawn at random."""
    rest = [item for item in names if item != answer]
    return [answer, *(str(item) for item in rng.permutation(rest)[:3])]


def name_options(
    scene: Scene, rng: np.random.Generator, thing: Thing, but: Thing | None = None
) -> list[str]:
    """Return four option names that share no word, the name of ``thing`` first.

    The others name other things of its scene except ``but``, and invented things.
    """
    others = [name(other) for other in scene.things if other is not thing and other is not but]
    return [name(thing), *[*others, *invent_names(scene, rng)][:3]]


def invent_names(scene: Scene, rng: np.random.Generator) -> list[str]:
    """Invent names of things that share no word with one another or with the scene."""
    shapes = [s for s in rng.permutation(SHAPES) if s not in {t.shape for t in scene.things}]
    colours = [
        c for c in rng.permutation(list(COLOURS)) if c not in {t.colour for t in scene.things}
    ]
    return [f"{colour} {shape}" for colour, shape in zip(colours, shapes, strict=False)]
