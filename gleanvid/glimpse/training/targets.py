"""Training targets of every visual token, learnt in addition to the answers.

Every target is a class to predict. Those in ``SEEN`` describe the object at a token as its two
frames show it; the vision tower learns them. Those in ``HAPPENED`` describe what that object has
done so far in the clip; a middle layer of the language model learns them. In both, class 0 means
none (no object, event or change), and ``IGNORED`` means that the class cannot be known.

Letters in shapes: F frames, K objects, U temporal units of two frames, N visual tokens per unit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gleanvid.glimpse.questions.common import Evidence
from gleanvid.glimpse.world.world import (
    BEHAVIOURS,
    CHANGES,
    COLOURS,
    DIRECTIONS,
    FRAMES_PER_UNIT,
    SHAPES,
    Scene,
    Thing,
)

IGNORED = -100
VISIBLE = 0.12  # a token shows an object that covers more than this fraction of the token's area
_BINS = 8  # number of bins along each side of the frame, for the centre of an object
_DOINGS = (*BEHAVIOURS, "collides")
_EVENTS = ("goes on", "appears", "has just gone")
_MOST_SPANS = 5
_KNOWN_BY = 0.75  # fraction of the clip after which an object's behaviour can be recognised
_EVENTS_ALONE = ("leaves", "flashes", "arrives")  # behaviours that are an event, not a state

SEEN: dict[str, int] = {  # name of a target -> number of classes, including class 0
    "shape": len(SHAPES) + 1,
    "colour": len(COLOURS) + 1,
    "motion": len(DIRECTIONS) + 2,
    "column": _BINS + 1,
    "row": _BINS + 1,
}
HAPPENED: dict[str, int] = {
    "event": len(_EVENTS) + 1,
    "behaviour": len(_DOINGS) + 1,
    "spans": _MOST_SPANS + 1,
    "change": len(CHANGES) + 1,
    "gone shape": len(SHAPES) + 1,
    "gone colour": len(COLOURS) + 1,
    "column": _BINS + 1,
    "row": _BINS + 1,
}


def token_targets(scene: Scene, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of every token: ``SEEN`` int64 [U * N, 5], ``HAPPENED`` [U * N, 8].

    ``shares`` [F, K, rows, columns]: the fraction of each token's area that each object visibly
    covers. A token shows the object that covers most of it.
    """
    things, units = scene.things, scene.settings.num_units
    covered = _covered(shares)
    owner, there = covered.argmax(-1), covered.max(-1) > VISIBLE  # [U, N]
    middles = (np.arange(units) + 0.5) / units
    seen = np.array([[_seen(scene, thing, time) for thing in things] for time in middles])
    past = np.array([[_past(scene, k, time) for k in range(len(things))] for time in middles])
    u = np.arange(units)[:, None]
    visible = np.where(there[..., None], seen[u, owner], 0)
    happened = np.where(there[..., None], past[u, owner], 0)
    happened[..., 0] += there  # class of the event: "goes on" is 1, "appears" is 2
    happened[..., -2:] = visible[..., -2:]  # column and row of the object's centre
    _mark_gone(scene, covered, there, happened)
    return visible.reshape(-1, len(SEEN)), happened.reshape(-1, len(HAPPENED))


def evidence_tokens(shares: np.ndarray, evidence: Sequence[Evidence]) -> np.ndarray:
    """Return which tokens show the answer of a question, bool [U * N].

    These tokens show an object of its evidence, in a unit within the time span of that evidence.
    """
    covered = _covered(shares)
    middles = (np.arange(len(covered)) + 0.5) / len(covered)
    tokens = np.zeros(covered.shape[:2], dtype=bool)
    for part in evidence:
        during = (middles >= part.start) & (middles < part.end)
        tokens |= during[:, None] & (covered[..., part.thing] > VISIBLE)
    return tokens.reshape(-1)


def _covered(shares: np.ndarray) -> np.ndarray:
    """Average ``shares`` [F, K, rows, columns] over the frames of a unit: float32 [U, N, K]."""
    pairs = shares.reshape(-1, FRAMES_PER_UNIT, *shares.shape[1:]).mean(1)
    return pairs.reshape(*pairs.shape[:2], -1).transpose(0, 2, 1)


def _mark_gone(scene: Scene, covered: np.ndarray, there: np.ndarray, happened: np.ndarray) -> None:
    """Set the classes in ``happened`` of tokens whose object vanished since the last unit."""
    units = len(covered)
    for k, thing in enumerate(scene.things):
        visible = [thing.visible((u + 0.5) / units) for u in range(units)]
        for u in range(1, units):
            if visible[u - 1] and not visible[u]:
                left = (covered[u - 1, :, k] > VISIBLE) & ~there[u]
                happened[u, left, 0] = len(_EVENTS)
                happened[u, left, 4] = IGNORED if thing.behaviour == "turns" else _shape(thing)
                happened[u, left, 5] = _colour(thing)


def _seen(scene: Scene, thing: Thing, time: float) -> tuple[int, int, int, int, int]:
    """Return the classes of an object at ``time`` for the targets ``SEEN``.

    ``IGNORED``: the shape of an object that turns, the motion of one that bounces or collides.
    """
    x, y = thing.centre(time)
    return (
        IGNORED if thing.behaviour == "turns" else _shape(thing),
        _colour(thing),
        _motion(thing),
        _bin(x / scene.settings.width),
        _bin(y / scene.settings.height),
    )


def _past(scene: Scene, k: int, time: float) -> tuple[int, ...]:
    """Return the classes of object ``k`` at ``time`` for the eight targets ``HAPPENED``.

    The class of the event is 1 if the object was absent one unit ago, else 0; ``token_targets``
    adds 1 to it. The last four classes are 0 here; ``token_targets`` sets them.
    """
    thing, change = scene.things[k], scene.change
    before = time - 1 / scene.settings.num_units
    changed = change is not None and k in (change.before, change.after)
    known = time >= _KNOWN_BY and thing.behaviour not in _EVENTS_ALONE and not changed
    spans = sum(start < time for start, _ in thing.spans)
    return (
        int(before > 0 and not thing.visible(before)),
        _DOINGS.index(thing.behaviour) + 1 if known else IGNORED,
        min(spans, _MOST_SPANS) if thing.behaviour == "blinks" else IGNORED,
        CHANGES.index(change.what) + 1 if change is not None and k == change.after else 0,
        *[0] * 4,
    )


def _motion(thing: Thing) -> int:
    """Return the class of an object's motion: 1 if at rest, 2 to 9 for the eight directions.

    An object that bounces or collides changes direction, so its class is ``IGNORED``.
    """
    if thing.behaviour in ("bounces", "collides"):
        return IGNORED
    if thing.direction is None:
        return 1
    return 2 + list(DIRECTIONS).index(thing.direction)


def _shape(thing: Thing) -> int:
    return SHAPES.index(thing.shape) + 1


def _colour(thing: Thing) -> int:
    return list(COLOURS).index(thing.colour) + 1


def _bin(place: float) -> int:
    """Return the bin, 1 to ``_BINS``, of a coordinate in [0, 1]."""
    return 1 + int(np.clip(place * _BINS, 0, _BINS - 1))
