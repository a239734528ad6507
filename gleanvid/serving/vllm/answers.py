"""Validate the responses of a vLLM server, so that malformed ones become error messages."""

from __future__ import annotations

import json
import urllib.error
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from itertools import pairwise
from typing import Any

from gleanvid.errors import MALFORMED, ModelError

MOST_LINE, MOST_SENTENCE = 2**20, 2**16  # maximum bytes of a line, and of an error response
LONGEST_SENTENCE = 1000  # longer error messages of the server are cut to this many characters
MOST_TOKENS = 2**31


def lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines of a response that arrives in pieces.

    Raises ``ModelError`` for a line of more than ``MOST_LINE`` bytes.
    """
    held = bytearray()
    for piece in pieces:
        held += piece
        if b"\n" in piece:
            *whole, held = held.split(b"\n")
            yield from map(bytes, whole)
        if len(held) > MOST_LINE:
            raise ModelError(f"the server's answer has a line of more than {MOST_LINE:,} bytes")
    if held:
        yield bytes(held)


def sentence(error: urllib.error.HTTPError) -> str:
    """Return the error message in a server's response; its HTTP status if there is none."""
    try:
        with error:
            text = b""
            # Not read(): it would read a chunk of size -1 to its end, however long that is.
            while len(text) < MOST_SENTENCE and (piece := error.read1(MOST_SENTENCE)):
                text += piece
        return message(json.loads(text))
    except (*MALFORMED, OSError, HTTPException):
        return str(error)


def message(answer: Any) -> str:
    """Return the error message of a JSON answer of the server.

    Raises ``KeyError`` or ``TypeError`` if the answer holds none.
    """
    return str(answer["error"]["message"])


def event_text(event: Mapping[str, Any]) -> str:
    """Return the text in one event of a streamed chat completion.

    Raises ``TypeError``, ``KeyError`` or ``AttributeError`` if the event is malformed.
    """
    return "".join(one["delta"].get("content") or "" for one in event["choices"])


def token_count(usage: Mapping[str, Any], name: str) -> int:
    """Return a token count from an answer's "usage" field, such as "prompt_tokens".

    Returns 0 if the count is missing. Raises ``ValueError`` if it is not a whole number in range.
    """
    count = usage.get(name, 0)
    if type(count) is not int or not 0 <= count < MOST_TOKENS:
        raise ValueError(f"{name} is not a number of tokens")
    return count


def checked_records(answer: Any) -> dict[str, Any]:
    """Validate a response of ``/gleanvid/records`` and return it as a dict.

    Raises ``ValueError`` if the answer is malformed.
    """
    sound = (
        isinstance(answer, dict)
        and isinstance(answer.get("method"), dict)
        and isinstance(answer["method"].get("name"), str)
        and len(str(answer["method"])) <= LONGEST_SENTENCE
        and _is_number(answer.get("pruning_rate"), 1.0)
        and _is_number(answer.get("seconds", 0.0))
        and _is_number(answer.get("count", 0))
        and isinstance(answer.get("records"), list)
        and all(_is_record(record) for record in answer["records"])
    )
    if not sound:
        raise ValueError("no records")
    return dict(answer)


def _is_number(value: Any, most: float = 1e18) -> bool:
    return isinstance(value, int | float) and 0 <= value <= most


def _is_record(record: Any) -> bool:
    """Return whether a compression record has a valid grid and ascending token indices in it."""
    if not isinstance(record, dict):
        return False
    grid, keep = record.get("grid"), record.get("keep")
    if not (isinstance(grid, list) and isinstance(keep, list) and keep and len(grid) == 3):
        return False
    if any(type(one) is not int for one in [*grid, *keep]):
        return False
    units, rows, columns = grid
    rising = all(one < after for one, after in pairwise(keep))
    return rising and min(grid) >= 1 and keep[0] >= 0 and keep[-1] < units * rows * columns
