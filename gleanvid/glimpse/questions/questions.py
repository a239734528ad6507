"""Questions about a scene. Their answers are right because they are computed from the scene.

Every question can be asked open-ended or as multiple choice. This module never reads pixels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gleanvid.glimpse.questions.common import Evidence, lifetimes, name
from gleanvid.glimpse.questions.families import FAMILIES as FAMILIES
from gleanvid.glimpse.world.world import COLOURS, Scene


@dataclass(frozen=True)
class Question:
    """A question about a clip, with its type (``family``).

    ``answer`` is in lower case and one of the four ``options``. Only a caption has no options.
    """

    family: str
    text: str
    answer: str
    options: tuple[str, ...]
    evidence: tuple[Evidence, ...]


def questions(scene: Scene, rng: np.random.Generator) -> list[Question]:
    """Return every question that the scene allows, each in one wording drawn from ``rng``."""
    asked = []
    for family, find in FAMILIES.items():
        for text, answer, options, evidence in find(scene, rng):
            order = tuple(str(option) for option in rng.permutation(list(options)))
            asked.append(Question(family, text, answer, order, evidence))
    return asked


def describe(scene: Scene) -> str:
    """Name all objects of the clip, such as "red circle and blue star", ordered by colour."""
    things = {name(thing): thing for thing in scene.things}
    order = sorted(things, key=lambda key: list(COLOURS).index(things[key].colour))
    return " and ".join(order)


def caption(scene: Scene) -> Question:
    """Return the question "What is there?", the only one without options."""
    return Question("caption", "What is there?", describe(scene), (), lifetimes(scene))


def normalise(text: str) -> str:
    """Normalise an answer: lower case, no final punctuation, single spaces."""
    return " ".join(text.lower().replace("_", "-").split()).rstrip(".!? ")
