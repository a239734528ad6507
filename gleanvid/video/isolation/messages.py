"""What a decoding process sends: lines of JSON, some followed by an array as a ``.npy`` file.

A line holds the kind of the message and a value: "plan", a saved run's "facts", "error" or "end".
An array follows "frame" (its index in the plan) and "array" (its name in a saved run). A hostile
file may have taken over the process. So everything is checked before memory is allocated for it,
and nothing is unpickled.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from gleanvid.video.isolation import bounds
from gleanvid.video.plan import UnreadableVideoError

MAX_LINE_BYTES = 2 * bounds.MAX_JSON_BYTES
MAX_ERROR_CHARS = 1000


def send(pipe: IO[bytes], kind: str, value: Any = None) -> None:
    """Write one message. Raises ``ValueError`` for text with lone surrogates."""
    line = json.dumps([kind, value], ensure_ascii=False, separators=(",", ":"))
    pipe.write(line.encode() + b"\n")
    pipe.flush()


def send_array(pipe: IO[bytes], array: np.ndarray) -> None:
    """Write an array as a ``.npy`` file; ``numpy.save`` cannot write to a pipe."""
    array = np.asarray(array, order="C")
    header = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(pipe, header)
    pipe.write(array.data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """Yield kind and value of every message up to the "end"; the caller reads the arrays.

    Raises ``UnreadableVideoError`` with the text of an "error", ``EOFError`` if the process ended
    early, ``OverflowError`` for a long line, ``ValueError`` or ``TypeError`` for other data.
    """
    while True:
        line = pipe.readline(MAX_LINE_BYTES + 1)
        if not line:
            raise EOFError
        if not bounds.fits(line, MAX_LINE_BYTES, 2 * bounds.MAX_JSON_ITEMS):
            raise OverflowError
        kind, value = json.loads(line)
        if kind == "error":
            raise UnreadableVideoError(str(value)[:MAX_ERROR_CHARS])
        if kind == "end":
            return
        yield kind, value


def read_array(pipe: IO[bytes], most_bytes: int) -> np.ndarray:
    """Read an array of numbers from a ``.npy`` file.

    Raises ``OverflowError`` if it takes more than ``most_bytes``, ``EOFError`` if the process ended
    early, ``ValueError`` for other types, such as pickled objects, which could run code.
    """
    if np.lib.format.read_magic(pipe) != (1, 0):
        raise ValueError("unknown version of the .npy format")
    shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(pipe)
    size = math.prod(shape)
    if dtype.kind not in "biuf" or min(shape, default=0) < 0:
        raise ValueError("not an array of numbers")
    if size * dtype.itemsize > most_bytes:
        raise OverflowError
    array = np.empty(size, dtype)
    if pipe.readinto(array.view(np.uint8)) < array.nbytes:  # type: ignore[attr-defined]
        raise EOFError
    return array.reshape(shape, order="F" if fortran_order else "C")
