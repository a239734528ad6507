"""The decoding process: a request on standard input, a plan and its pictures on standard output.

Imports neither torch nor ``gleanvid.types``: it is started anew for every file. Before it looks
into the file it gives up what it can: memory, time and new files by limits, all files but this one
by Landlock, sockets, programs and signals by seccomp. Messages are a kind (one byte), a length and
a payload: ``P`` a plan (JSON), ``F`` a place and its picture, ``L`` the layers that hold (JSON),
``E`` a sentence, ``.`` the end.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import signal
import struct
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import BinaryIO

import numpy as np

from gleanvid.video import landlock, seccomp
from gleanvid.video.plan import Events, Plan, Request, UnreadableVideoError

HEADER = struct.Struct("<cQ")  # kind, length of the payload
PLACE = struct.Struct("<q")
MAX_REQUEST_BYTES = 2**16
MESSAGES_BYTES = 2**16  # of what native libraries complain about; no other file can be written
NICENESS = 10
PR_SET_PDEATHSIG = 1

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
    _leave_with_parent()
    _load("pyav")
    line = sys.stdin.buffer.readline(MAX_REQUEST_BYTES)
    if not line:
        os._exit(0)  # the other side has gone
    asked = json.loads(line)
    request = Request(**asked["request"]) if asked["request"] else None
    if request is not None:
        _load(request.backend)
    _limit(asked["memory_bytes"], asked["cpu_seconds"])
    held = restricted(request.path if request else None)
    try:
        if request is None:
            _send(answers, b"L", json.dumps(held).encode())
        else:
            _serve(request, answers)
        _send(answers, b".")
    except UnreadableVideoError as error:
        _send(answers, b"E", str(error).encode("utf-8", "replace"))
    os._exit(0)  # no clean-up of native libraries, which may hang


def _serve(request: Request, answers: BinaryIO) -> None:
    for event in decode(request):
        if isinstance(event, Plan):
            _send(answers, b"P", json.dumps(dataclasses.asdict(event)).encode())
        else:
            place, picture = event
            _send(answers, b"F", PLACE.pack(place), np.ascontiguousarray(picture).data)


def _load(backend: str) -> None:
    """Import what decoding needs while files can still be opened."""
    with suppress(ImportError):
        import_module("numpy.ma")
        import_module(BACKENDS[backend][0])
        if backend == "pyav":
            import_module("av.subtitles.stream")


def _leave_with_parent() -> None:
    """End where the starting thread ends, and let everything else on the machine go first."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def restricted(path: str | None) -> list[str]:
    """Give up every right but reading ``path``; the names of the layers that hold."""
    held = ["limits"] if find_spec("resource") else []
    if sys.platform == "linux":
        held += ["files"] if landlock.restrict(path) else []
        held += ["calls"] if seccomp.restrict() else []
    return held


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
    wanted = (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, MESSAGES_BYTES),
        (resource.RLIMIT_CORE, 0),
    )
    for limit, value in wanted:
        try:
            _, hard = resource.getrlimit(limit)
            most = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(limit, (most, most))
        except (ValueError, OSError):
            continue
