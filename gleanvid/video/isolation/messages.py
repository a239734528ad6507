"""The messages of a decoding process, for both ends of its pipe.

A message is a kind (one byte), a length and a payload. A hostile file may have taken over the
process. So whoever reads its messages checks every length before allocating memory for the payload.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO

from gleanvid.video.plan import UnreadableVideoError

HEADER = struct.Struct("<cQ")  # start of a message: its kind and the length of its payload
PLACE = struct.Struct("<q")  # index of a frame in the plan; it comes before the pixels
# Kinds of message: a plan (JSON), a frame (index and pixels), names of layers of protection (JSON).
PLAN, FRAME, LAYER_NAMES = b"P", b"F", b"L"
# Kinds of message for a saved run: its JSON, the header of an array, the bytes of an array.
FACTS, ARRAY, DATA = b"J", b"A", b"D"
ERROR, END = b"E", b"."
MAX_ERROR_BYTES = 2**12


def send(pipe: IO[bytes], kind: bytes, *parts: bytes | memoryview) -> None:
    """Write one message; its payload is all ``parts`` joined."""
    pipe.write(HEADER.pack(kind, sum(memoryview(part).nbytes for part in parts)))
    pipe.writelines(parts)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield kind and length of every message; the caller must read the payload itself.

    The iteration ends with the message of kind ``END``. A message of kind ``ERROR`` is raised as
    ``UnreadableVideoError`` with its text. Raises ``EOFError`` if the process ended early.
    """
    while True:
        kind, length = HEADER.unpack(read(pipe, HEADER.size))
        if kind == END:
            return
        if kind == ERROR and length <= MAX_ERROR_BYTES:
            raise UnreadableVideoError(read(pipe, length).decode("utf-8", "replace"))
        yield kind, length


def read(pipe: IO[bytes], count: int) -> bytes:
    """Read exactly ``count`` bytes. Raises ``EOFError`` if the process ended early."""
    data = pipe.read(count)
    if len(data) < count:
        raise EOFError
    return data
