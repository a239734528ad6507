"""Questions about a scene. Their answers are right because they are computed from the scene.

Every question can be asked open-ended or as multiple choice. This module never reads pixels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gleanvid.glimpse.questions import families, temporal
from gleanvid.glimpse.questions.common import Evidence, lifetimes, name
from gleanvid.glimpse.questions.families import Family
from gleanvid.glimpse.world.stories import STORIES
from gleanvid.glimpse.world.world import CHANGES, COLOURS, DIRECTIONS, SHAPES, Scene

FAMILIES = tuple(families.FAMILIES)  # question types of version 1
FAMILIES2 = (*FAMILIES, *temporal.FAMILIES)
PLAIN = ("colour", "shape")  # question types of version 1 that scenes of ``STORIES`` have, too


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
    for family, find in _asking(scene).items():
        for text, answer, options, evidence in find(scene, rng):
            order = tuple(str(option) for option in rng.permutation(list(options)))
            asked.append(Question(family, text, answer, order, evidence))
    return asked


def _asking(scene: Scene) -> dict[str, Family]:
    """Return the question types for a scene.

    A scene of ``STORIES`` gets those of :mod:`.temporal` and ``PLAIN``, others those of version 1.
    """
    if scene.theme in STORIES:
        return {**{plain: families.FAMILIES[plain] for plain in PLAIN}, **temporal.FAMILIES}
    return families.FAMILIES


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


def vocabulary() -> list[str]:
    """Return the words and phrases of answers in version 1, for training the tokenizer."""
    answers = [*SHAPES, *COLOURS, *DIRECTIONS, *families.NUMBERS, *families.PLACES, *families.SIDES]
    answers += [
        *families.ACTIONS.values(),
        *families.OUTCOMES.values(),
        *(f"the {what}" for what in CHANGES),
    ]
    return answers
