"""Questions about a scene, and their answers in words, right by construction.

A family is one kind of question; its wordings share one answer. This module reads scenes, never
pixels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gleanvid.glimpse.world import COLOURS, DIRECTIONS, SHAPES, Scene, Thing

STANDS_STILL = "it stands still"
WORDINGS: dict[str, tuple[str, ...]] = {
    "colour": (
        "What colour is the {shape}?",
        "Which colour does the {shape} have?",
        "What color is the {shape}?",
    ),
    "colour of the mover": (
        "What colour is the moving shape?",
        "What colour is the object that moves?",
        "Which colour moves?",
        "What color is the moving object?",
    ),
    "shape": (
        "What shape is the {colour} object?",
        "What is the {colour} thing?",
        "Which shape is {colour}?",
    ),
    "shape of the mover": (
        "What shape is moving?",
        "Which shape moves?",
        "What shape does the moving object have?",
    ),
    "direction": (
        "Which way does the {colour} {shape} move?",
        "In which direction does the {shape} move?",
        "Which way does the {colour} shape go?",
        "Where does the {shape} move?",
        "Which direction does the {colour} {shape} move in?",
    ),
    "direction of the mover": (
        "Which way does it move?",
        "Which way does the moving shape go?",
        "In which direction does the object move?",
        "What is the direction of motion?",
    ),
    "mover": ("What moves?", "What is moving?", "Which object moves?"),
    "what happens": (
        "What happens?",
        "Describe the video.",
        "What happens in this video?",
        "Describe what happens.",
    ),
}
HEADLINE = tuple(list(WORDINGS)[:6])  # colour, shape, direction: what the 60 % target is about


@dataclass(frozen=True)
class Question:
    """``text`` as a person would type it, ``answer`` in lower case without a full stop."""

    family: str
    text: str
    answer: str


def questions(scene: Scene, rng: np.random.Generator) -> list[Question]:
    """Every question the scene allows, each in one wording drawn from ``rng``."""
    asked = []
    for family, answer, thing in _truths(scene):
        wording = WORDINGS[family][rng.integers(len(WORDINGS[family]))]
        names = {} if thing is None else {"shape": thing.shape, "colour": thing.colour}
        asked.append(Question(family, wording.format(**names), answer))
    return asked


def _truths(scene: Scene) -> Iterator[tuple[str, str, Thing | None]]:
    """(family, answer, the object that is named in the question)."""
    for thing in scene.things:
        yield "colour", thing.colour, thing
        yield "shape", thing.shape, thing
        yield "direction", thing.direction or STANDS_STILL, thing
    movers = in_order(scene.movers)
    if len(movers) == 1:
        yield "colour of the mover", movers[0].colour, None
        yield "shape of the mover", movers[0].shape, None
        yield "direction of the mover", movers[0].direction or STANDS_STILL, None
    yield "mover", " and ".join(map(name, movers)) or "nothing", None
    yield "what happens", describe(scene), None


def describe(scene: Scene) -> str:
    """One sentence about the whole clip, movers first."""
    parts = [f"{name(thing)} moves {thing.direction}" for thing in in_order(scene.movers)]
    still = [thing for thing in scene.things if not thing.moves]
    parts += [f"{name(thing)} stands still" for thing in in_order(still)]
    return " and ".join(parts)


def name(thing: Thing) -> str:
    """ "a red circle", "an orange ring"."""
    return f"{'an' if thing.colour[0] in 'aeiou' else 'a'} {thing.colour} {thing.shape}"


def in_order(things: list[Thing] | tuple[Thing, ...]) -> list[Thing]:
    """In the order of the colours' list, so that a sentence about two has one right form."""
    return sorted(things, key=lambda thing: list(COLOURS).index(thing.colour))


def normalise(text: str) -> str:
    """What is compared: lower case, no final punctuation, single spaces."""
    return " ".join(text.lower().replace("_", "-").split()).rstrip(".!? ")


def vocabulary() -> list[str]:
    """Every sentence form of the world, for training the tokenizer."""
    lines = []
    for wordings in WORDINGS.values():
        for wording in wordings:
            lines += [
                wording.format(shape=shape, colour=colour) for shape in SHAPES for colour in COLOURS
            ]
    for colour in COLOURS:
        for shape in SHAPES:
            for direction in DIRECTIONS:
                thing = name(Thing(shape, colour, "small", (0, 0), (0, 0), None))
                lines += [f"{thing} moves {direction} and {thing} stands still"]
    words = [*SHAPES, *COLOURS, *DIRECTIONS, "nothing", STANDS_STILL]
    return lines + words * 50
