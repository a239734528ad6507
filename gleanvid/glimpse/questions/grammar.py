"""The forms of all Glimpse questions, and those nearest to a question of any other form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from gleanvid.glimpse.world.world import COLOURS, SHAPES

# {s}: a shape; {c}: a colour; {t}: an object, as "circle", "red object" or "red circle"
FORMS = (
    "What is there?",
    "What colour is the {s}?",
    "Which colour does the {s} have?",
    "What shape is the {c} object?",
    "Which shape is {c}?",
    "Which way does the {t} move?",
    "In which direction does the {t} go?",
    "Where is the {t}?",
    "Where is the {t} at the start?",
    "Where is the {t} at the end?",
    "Where is the {t} when it flashes?",
    "On which side of the {t} is the {t}?",
    "Where is the {t}, seen from the {t}?",
    "How many objects are there?",
    "How many different objects appear?",
    "Which colour is not there: {c}, {c}, {c} or {c}?",
    "Which is missing: {c}, {c}, {c} or {c}?",
    "Which object flashes briefly?",
    "What is seen only for a moment?",
    "Which object appears last?",
    "Which object is the last to come?",
    "Which object leaves first?",
    "Which object is the first to go?",
    "What changes about an object at the cut?",
    "What changes at the cut?",
    "Which object does the {t} hit?",
    "What does the {t} bump into?",
    "What does the {t} do?",
    "How many times does the {t} blink?",
    "How often does the {t} blink?",
    "What is the {t} at the end, compared with the start?",
    "Compared with the start, how is the {t} at the end?",
)
AMERICAN = {"color": "colour", "colors": "colours"}
_SHAPE, _COLOUR = (f"(?:{'|'.join(words)})" for words in (SHAPES, COLOURS))
_SLOTS = {"s": _SHAPE, "c": _COLOUR, "t": f"(?:{_COLOUR} (?:object|{_SHAPE})|{_SHAPE})"}
_PATTERNS = [
    re.compile(re.sub(r"\{(\w)}", lambda slot: _SLOTS[slot[1]], form.lower().rstrip("?")))
    for form in FORMS
]
_WORD = re.compile(r"[\w'-]+")
_KNOWN = {word for form in FORMS for word in _WORD.findall(form.lower())} | {*SHAPES, *COLOURS}


@dataclass(frozen=True)
class Reading:
    """A question as the built-in model reads it.

    Attributes:
        text: the question in its known wording; empty if it has none of the forms.
        unknown: words that no question or clip has, in the order of the question.
        nearest: known questions that resemble it, the nearest first; empty if it is known itself.
    """

    text: str
    unknown: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()


def read(question: str, known: Iterable[str] = (), count: int = 3) -> Reading:
    """Read a question in the grammar of Glimpse, whatever its case, spacing and "color".

    ``known``: questions about the clip at hand, whose objects fill the gaps of ``nearest``, which
    has ``count`` questions.
    """
    words = [AMERICAN.get(word, word) for word in question.lower().split()]
    plain = " ".join(words).rstrip(" ?.!")
    if any(pattern.fullmatch(plain) for pattern in _PATTERNS):
        return Reading(f"{plain[0].upper()}{plain[1:]}?")
    spoken = _WORD.findall(plain)
    unknown = dict.fromkeys(word for word in spoken if word not in _KNOWN)
    filled = _filled([*spoken, *_WORD.findall(" ".join(known).lower())])
    alike = sorted(filled, key=lambda text: _likeness(spoken, text), reverse=True)
    return Reading("", tuple(unknown), tuple(alike[:count]))


def _filled(words: Sequence[str]) -> list[str]:
    """Return every form, its gaps filled with the shapes and colours of ``words`` in this order."""
    shapes = [*dict.fromkeys([*(word for word in words if word in SHAPES), *SHAPES])]
    colours = [*dict.fromkeys([*(word for word in words if word in COLOURS), *COLOURS])]
    return [_fill(form, shapes, colours) for form in FORMS]


def _fill(form: str, shapes: Sequence[str], colours: Sequence[str]) -> str:
    gaps = {"s": iter(shapes), "c": iter(colours), "t": iter(shapes)}
    return re.sub(r"\{(\w)}", lambda slot: next(gaps[slot[1]]), form)


def _likeness(spoken: Sequence[str], text: str) -> tuple[float, float]:
    """Return the words that two questions share, then the likeness of their letters."""
    other = _WORD.findall(text.lower())
    shared = len({*spoken} & {*other}) / len({*spoken, *other})
    return shared, SequenceMatcher(None, " ".join(spoken), " ".join(other)).ratio()
