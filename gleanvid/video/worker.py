"""The decoding process: a request on standard input, a plan and its pictures on standard output.

Imports neither torch nor ``gleanvid.types``: it is started anew for every file. Messages are a kind
(one byte), a length and a payload: ``P`` a plan (JSON), ``F`` a place and its picture, ``E`` a
sentence, ``.`` the end.
"""

from __future__ import annotations

import dataclasses
import json
import os
import struct
import sys
from importlib import import_module
from typing import BinaryIO

import numpy as np

from gleanvid.video.plan import Events, Plan, Request, UnreadableVideoError

HEADER = struct.Struct("<cQ")  # kind, length of the payload
PLACE = struct.Struct("<q")

BACKENDS = {  # module of this package, name on PyPI of the package it needs
    "pyav": ("gleanvid.video.pyav", "av"),
    "decord": ("gleanvid.video.decord", "decord"),
    "opencv": ("gleanvid.video.opencv", "opencv-python-headless"),
}


def decode(request: Request) -> Events:
    """The plan and the pictures of ``request`` from its backend, in this process."""
    module, package = BACKENDS[request.backend]
    try:
        backend = import_module(module)
        yield from backend.read(request)
    except ImportError as error:
        raise UnreadableVideoError(
            f"Reading videos with backend={request.backend!r} needs the package {package!r} "
            f"({error}). Install it with: pip install {package}"
        ) from error
    except MemoryError as error:
        raise UnreadableVideoError(
            f"{request.name} needs more memory than the reader may use."
        ) from error


def main() -> None:
    """Serve one request and leave."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a native library prints must not land among the pictures
    asked = json.load(sys.stdin)
    _limit(asked["memory_bytes"], asked["cpu_seconds"])
    try:
        for event in decode(Request(**asked["request"])):
            if isinstance(event, Plan):
                _send(answers, b"P", json.dumps(dataclasses.asdict(event)).encode())
            else:
                place, picture = event
                _send(answers, b"F", PLACE.pack(place), np.ascontiguousarray(picture).data)
        _send(answers, b".")
    except UnreadableVideoError as error:
        _send(answers, b"E", str(error).encode("utf-8", "replace"))
    os._exit(0)  # no clean-up of native libraries, which may hang


def _send(answers: BinaryIO, kind: bytes, *parts: bytes | memoryview) -> None:
    answers.write(HEADER.pack(kind, sum(memoryview(part).nbytes for part in parts)))
    for part in parts:
        answers.write(part)
    answers.flush()


def _limit(memory_bytes: int, cpu_seconds: int) -> None:
    """Have the system stop this process where it takes too much; not every system can."""
    try:
        import resource
    except ImportError:
        return
    wanted = ((resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_CPU, cpu_seconds))
    for limit, value in (*wanted, (resource.RLIMIT_CORE, 0)):
        try:
            _, hard = resource.getrlimit(limit)
            most = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(limit, (most, hard))
        except (ValueError, OSError):
            continue
