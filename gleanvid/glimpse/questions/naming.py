"""How things are named in questions, and the other names an answer is put among."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gleanvid.glimpse.world.world import COLOURS, SHAPES, Scene, Thing


def name(thing: Thing) -> str:
    """ "red circle"."""
    return f"{thing.colour} {thing.shape}"


def refer(rng: np.random.Generator, thing: Thing) -> str:
    """One of the names that tell the thing from all others of its scene."""
    if thing.behaviour == "turns":
        return f"{thing.colour} object"
    return say(rng, thing.shape, f"{thing.colour} object", name(thing))


def say(rng: np.random.Generator, *wordings: str) -> str:
    """One of the wordings."""
    return wordings[rng.integers(len(wordings))]


def others_and(
    rng: np.random.Generator, names: Sequence[str] | Mapping[str, object], answer: str
) -> list[str]:
    """The answer and three of the other names."""
    rest = [item for item in names if item != answer]
    return [answer, *(str(item) for item in rng.permutation(rest)[:3])]


def names_and(
    scene: Scene, rng: np.random.Generator, thing: Thing, but: Thing | None = None
) -> list[str]:
    """The thing's name and three others, those of the scene first; no two share a word."""
    others = [name(other) for other in scene.things if other is not thing and other is not but]
    return [name(thing), *[*others, *invented(scene, rng)][:3]]


def invented(scene: Scene, rng: np.random.Generator) -> list[str]:
    """Names of things that are not in the scene; no two share a word, nor one with the scene."""
    shapes = [s for s in rng.permutation(SHAPES) if s not in {t.shape for t in scene.things}]
    colours = [
        c for c in rng.permutation(list(COLOURS)) if c not in {t.colour for t in scene.things}
    ]
    return [f"{colour} {shape}" for colour, shape in zip(colours, shapes, strict=False)]
