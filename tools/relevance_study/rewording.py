"""Reword a question in the synonymous form that Glimpse uses."""

from __future__ import annotations

import re

_PAIRS = (  # the two wordings of each question in the Glimpse world
    ("What colour is the {a}?", "Which colour does the {a} have?"),
    ("What shape is the {a} object?", "Which shape is {a}?"),
    ("Which way does the {a} move?", "In which direction does the {a} go?"),
    ("On which side of the {a} is the {b}?", "Where is the {b}, seen from the {a}?"),
    ("How many objects are there?", "How many different objects appear?"),
    ("Which object flashes briefly?", "What is seen only for a moment?"),
    ("Which object appears last?", "Which object is the last to come?"),
    ("Which object leaves first?", "Which object is the first to go?"),
    ("Which object does the {a} hit?", "What does the {a} bump into?"),
    ("How many times does the {a} blink?", "How often does the {a} blink?"),
)


def reworded(question: str) -> str | None:
    """Return the question in its other known wording, or None."""
    for pair in _PAIRS:
        for one, other in (pair, pair[::-1]):
            pattern = re.sub(r"\\{(\w)\\}", r"(?P<\1>.+)", re.escape(one))
            if found := re.fullmatch(pattern, question):
                return other.format(**found.groupdict())
    return None
