"""Names of objects, answer options and evidence, shared by all question types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from gleanvid.glimpse.world.world import COLOURS, SHAPES, Scene, Thing


@dataclass(frozen=True)
class Evidence:
    """What a viewer must see to answer: one object during one time span.

    ``thing``: index of the object in ``scene.things``. The time span goes from ``start`` to
    ``end``, as fractions of the clip.
    """

    thing: int
    start: float
    end: float


class EvidenceFacts(TypedDict):
    """:class:`Evidence` as written to ``questions.jsonl``, with times in seconds."""

    thing: int
    start_s: float
    end_s: float


def unchanged(scene: Scene) -> list[tuple[int, Thing]]:
    """Return (index in ``scene.things``, object) for every object that no cut changes."""
    change = scene.change
    changed = () if change is None else (change.before, change.after)
    return [(k, thing) for k, thing in enumerate(scene.things) if k not in changed]


def evenly_cast(scene: Scene, theme: str) -> list[tuple[int, Thing]]:
    """Return (index in ``scene.things``, object) of objects with equally likely behaviours.

    These are all objects of a "medley" scene, the first object of a ``theme`` scene, else none.
    """
    if scene.theme == "medley":
        return list(enumerate(scene.things))
    return [(0, scene.things[0])] if scene.theme == theme else []


def lifetime(thing: Thing, k: int) -> tuple[Evidence, ...]:
    """Return object ``k`` as evidence, from its first appearance to its last disappearance."""
    return (Evidence(k, thing.appears, thing.ends),)


def lifetimes(scene: Scene, which: Iterable[int] | None = None) -> tuple[Evidence, ...]:
    """Return the objects ``which`` (None: all) as evidence, as :func:`lifetime` does."""
    numbers = range(len(scene.things)) if which is None else which
    return tuple(one for k in numbers for one in lifetime(scene.things[k], k))


def name(thing: Thing) -> str:
    """Return the name of an object, such as "red circle"."""
    return f"{thing.colour} {thing.shape}"


def refer_to(rng: np.random.Generator, thing: Thing) -> str:
    """Draw a wording that names this object only, such as "circle" or "red object"."""
    if thing.behaviour == "turns":
        return f"{thing.colour} object"
    return draw(rng, thing.shape, f"{thing.colour} object", name(thing))


def draw(rng: np.random.Generator, *wordings: str) -> str:
    """Draw one wording of a question at random."""
    return wordings[rng.integers(len(wordings))]


def options_for(
    rng: np.random.Generator, names: Sequence[str] | Mapping[str, object], answer: str
) -> list[str]:
    """Return four answer options: ``answer`` and three others of ``names``, drawn at random."""
    rest = [item for item in names if item != answer]
    return [answer, *(str(item) for item in rng.permutation(rest)[:3])]


def name_options(
    scene: Scene, rng: np.random.Generator, thing: Thing, but: Thing | None = None
) -> list[str]:
    """Return four names of objects as answer options, the name of ``thing`` first.

    Next come other objects of the scene, without ``but``. If these are fewer than three, names that
    fit no object of the scene are added. No two of the names share a word.
    """
    others = [name(other) for other in scene.things if other is not thing and other is not but]
    return [name(thing), *[*others, *invent_names(scene, rng)][:3]]


def invent_names(scene: Scene, rng: np.random.Generator) -> list[str]:
    """Return names made of shapes and colours that are not in the scene, each used once."""
    shapes = [s for s in rng.permutation(SHAPES) if s not in {t.shape for t in scene.things}]
    colours = [
        c for c in rng.permutation(list(COLOURS)) if c not in {t.colour for t in scene.things}
    ]
    return [f"{colour} {shape}" for colour, shape in zip(colours, shapes, strict=False)]
