"""The messages of a decoding process, for both ends of its pipe.

A message is a kind (one byte), a length and a payload. The process may have been taken over by a
hostile file, so the reader of its messages checks every length before it takes memory for it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO

from gleanvid.video.plan import UnreadableVideoError

HEADER = struct.Struct("<cQ")  # kind, length of the payload
PLACE = struct.Struct("<q")  # index of a frame in the plan, sent before its pixels
# Kinds of message: a plan (JSON), a frame (index and pixels), names of protection layers (JSON).
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

    Raises ``UnreadableVideoError`` with the text of an error message, and ``EOFError`` if the
    process ended early.
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
