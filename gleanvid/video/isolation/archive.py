"""A saved run's archive, sent array by array from the decoding process to the server.

The decoding process checks the JSON before it parses it, and the header of an array before it
unpacks the array. It sends an array in pieces while it unpacks it, so it never holds a whole array.
The server does not trust the decoding process and repeats the checks.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from typing import IO, Any

import numpy as np

from gleanvid.errors import refusing
from gleanvid.video.isolation import bounds
from gleanvid.video.isolation.messages import ARRAY, DATA, FACTS, HEADER, read, receive, send
from gleanvid.video.plan import UnreadableVideoError

PARTS = ("run.json", "run.npz")
CHUNK_BYTES = 2**16
DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, EOFError, SyntaxError)


# --- in the decoding process ----------------------------------------------------------------------


def import_all() -> None:
    """Unpack a small archive, so that every module needed for unpacking is imported.

    After the process has given up its rights, it can open no file and so import no module.
    """
    arrays, archive = io.BytesIO(), io.BytesIO()
    np.savez_compressed(arrays, one=np.ones(1))
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in zip(PARTS, (b"{}", arrays.getvalue()), strict=True):
            file.writestr(name, content)
    send_run(archive, io.BytesIO())


def send_run(file: str | IO[bytes], pipe: IO[bytes]) -> None:
    """Send a saved run's JSON, then two messages for every array: type and shape, and bytes.

    Raises ``UnreadableVideoError`` if the archive is damaged or exceeds a limit.
    """
    refused = refusing(UnreadableVideoError, bounds.NO_RUN, *DAMAGED)
    with refused, zipfile.ZipFile(file) as archive:
        if set(archive.namelist()) != set(PARTS):
            raise UnreadableVideoError(bounds.NO_RUN)
        with archive.open("run.json") as part:
            text = part.read(bounds.MAX_JSON_BYTES + 1)
        if not bounds.fits(text):
            raise UnreadableVideoError(bounds.TOO_LARGE)
        # Decode as UTF-8: json would guess the encoding, and UTF-16 hides brackets from the check.
        json.loads(text.decode())
        send(pipe, FACTS, text)
        with archive.open("run.npz") as part, zipfile.ZipFile(part) as arrays:
            _send_arrays(arrays, pipe)


def _send_arrays(archive: zipfile.ZipFile, pipe: IO[bytes]) -> None:
    infos = archive.infolist()
    room = bounds.MAX_RUN_BYTES
    for info in infos:
        with archive.open(info) as member:
            shape, fortran, dtype = _header(member)
            size = math.prod(shape) * dtype.itemsize
            room -= size
            if len(infos) > bounds.MAX_RUN_ARRAYS or not _is_plain(dtype, shape) or room < 0:
                raise UnreadableVideoError(bounds.TOO_LARGE)
            name = info.filename.removesuffix(".npy")
            send(pipe, ARRAY, json.dumps([name, dtype.str, shape, fortran]).encode())
            pipe.write(HEADER.pack(DATA, size))
            while size:
                part = member.read(min(size, CHUNK_BYTES))
                if not part:
                    raise EOFError
                pipe.write(part)
                size -= len(part)


def _header(member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(member)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(member)
    return np.lib.format.read_array_header_2_0(member)


def _is_plain(dtype: np.dtype, shape: tuple[int, ...]) -> bool:
    """Return whether an array holds numbers and has a valid shape.

    Other types, such as pickled objects, could run code when they are loaded.
    """
    return dtype.kind in "biuf" and all(type(side) is int and side >= 0 for side in shape)


# --- in the server --------------------------------------------------------------------------------


def received_run(pipe: IO[bytes]) -> tuple[Any, dict[str, np.ndarray]]:
    """Read the JSON and the arrays that ``send_run`` sent.

    Raises ``ValueError``, ``TypeError`` or ``KeyError`` if JSON and arrays do not fit together.
    """
    arrays: dict[str, np.ndarray] = {}
    facts, room = None, bounds.MAX_RUN_BYTES
    for kind, length in receive(pipe):
        if length > bounds.MAX_JSON_BYTES or not bounds.fits(text := read(pipe, length)):
            raise ValueError(bounds.TOO_LARGE)
        if kind == FACTS:
            facts = json.loads(text.decode())
        elif kind == ARRAY and len(arrays) < bounds.MAX_RUN_ARRAYS:
            name, array = _received_array(pipe, json.loads(text.decode()), room)
            arrays[name], room = array, room - array.nbytes
        else:
            raise ValueError(bounds.NO_RUN)
    if facts is None:
        raise ValueError(bounds.NO_RUN)
    return facts, arrays


def _received_array(pipe: IO[bytes], about: list[Any], room: int) -> tuple[str, np.ndarray]:
    name, kind, shape, fortran = about
    dtype, size = np.dtype(str(kind)), math.prod(shape)
    announced = HEADER.unpack(read(pipe, HEADER.size))
    too_large = size * dtype.itemsize > room
    if not _is_plain(dtype, shape) or too_large or announced != (DATA, size * dtype.itemsize):
        raise ValueError(bounds.NO_RUN)
    array = np.empty(size, dtype)
    if pipe.readinto(array.view(np.uint8)) < array.nbytes:  # type: ignore[attr-defined]
        raise EOFError
    return str(name), array.reshape(shape, order="F" if fortran else "C")
