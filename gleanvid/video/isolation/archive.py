"""The archive of a saved run, unpacked piece by piece in the decoding process.

Its JSON and the headers of its arrays are looked at before anything is unpacked, and an array is
handed on as it comes out, so this process never holds one whole.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import IO

import numpy as np

from gleanvid.video.isolation import bounds
from gleanvid.video.plan import UnreadableVideoError

Message = tuple[bytes, int, Iterable[bytes]]  # kind, length, and the payload in parts

PARTS = ("run.json", "run.npz")
CHUNK_BYTES = 2**16
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, TypeError, RuntimeError),
    *(NotImplementedError, OverflowError, MemoryError, KeyError, SyntaxError),
)


def ready() -> None:
    """Unpack a small archive: what that imports on the way could not be opened later."""
    arrays, archive = io.BytesIO(), io.BytesIO()
    np.savez_compressed(arrays, one=np.ones(1))
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in zip(PARTS, (b"{}", arrays.getvalue()), strict=True):
            file.writestr(name, content)
    for _, _, parts in messages(archive):
        list(parts)


def messages(file: str | IO[bytes]) -> Iterator[Message]:
    """``J``, the JSON, and for every array ``A``, what it is (JSON), and ``D``, its bytes.

    Raises ``UnreadableVideoError``.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            if set(archive.namelist()) != set(PARTS):
                raise UnreadableVideoError(bounds.NO_RUN)
            with archive.open("run.json") as part:
                text = part.read(bounds.MAX_JSON_BYTES + 1)
            if not bounds.fits(text):
                raise UnreadableVideoError(bounds.TOO_LARGE)
            json.loads(text.decode())  # of bytes it reads encodings that hide brackets
            yield b"J", len(text), [text]
            with archive.open("run.npz") as part, zipfile.ZipFile(part) as arrays:
                yield from _arrays(arrays)
    except DAMAGED as error:
        raise UnreadableVideoError(bounds.NO_RUN) from error


def _arrays(archive: zipfile.ZipFile) -> Iterator[Message]:
    infos = archive.infolist()
    room = bounds.MAX_RUN_BYTES
    for info in infos:
        with archive.open(info) as member:
            shape, fortran, dtype = _header(member)
            size = math.prod(shape) * dtype.itemsize
            room -= size
            plain = dtype.kind in "biuf" and min(shape, default=0) >= 0
            if len(infos) > bounds.MAX_RUN_ARRAYS or not plain or room < 0:
                raise UnreadableVideoError(bounds.TOO_LARGE)
            name = info.filename.removesuffix(".npy")
            about = json.dumps([name, dtype.str, shape, fortran]).encode()
            yield b"A", len(about), [about]
            yield b"D", size, _parts(member, size)


def _header(member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(member)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(member)
    return np.lib.format.read_array_header_2_0(member)


def _parts(member: IO[bytes], size: int) -> Iterator[bytes]:
    while size:
        part = member.read(min(size, CHUNK_BYTES))
        if not part:
            raise EOFError
        size -= len(part)
        yield part
