"""The decoding process: a request on standard input, a plan and its pictures on standard output.

Imports neither torch nor ``gleanvid.types``: it is started anew for every file. Before it looks
into the file it gives up what it can: memory, time and new files by limits, all files but this one
by Landlock, sockets, programs and signals by seccomp. Messages are a kind (one byte), a length and
a payload: ``P`` a plan (JSON), ``F`` a place and its picture, ``L`` the layers that hold (JSON),
``E`` a sentence, ``.`` the end; those of a saved run stand in :mod:`gleanvid.video.isolation.archive`.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import signal
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gleanvid.video.isolation import archive, landlock, seccomp
from gleanvid.video.plan import Events, Plan, Request, UnreadableVideoError

HEADER = struct.Struct("<cQ")  # kind, length of the payload
PLACE = struct.Struct("<q")
MAX_MEMORY_BYTES = 4 * 2**30  # address space of this process
ARCHIVE_BYTES = 64 * 2**20  # more than it has, for an archive
MAX_REQUEST_BYTES = 2**16
MESSAGES_BYTES = 2**16  # of what native libraries complain about; no other file can be written
NICENESS = 10
PR_SET_PDEATHSIG = 1

BACKENDS = {  # module of this package, name on PyPI of the package it needs
    "pyav": ("gleanvid.video.decoders.pyav", "av"),
    "decord": ("gleanvid.video.decoders.decord", "decord"),
    "opencv": ("gleanvid.video.decoders.opencv", "opencv-python-headless"),
}


def decode(request: Request) -> Events:
    """The plan and the pictures of ``request`` from its backend, in this process."""
    with _in_words(request):
        yield from _loaded(request.backend).read(request)


def _loaded(backend: str) -> Any:
    """The module of a backend, with what it would otherwise import on the way."""
    import_module("numpy.ma")
    if backend == "pyav":
        import_module("av.subtitles.stream")
    return import_module(BACKENDS[backend][0])


@contextmanager
def _in_words(request: Request) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise UnreadableVideoError(
            f"Reading videos with backend={request.backend!r} needs the package "
            f"{BACKENDS[request.backend][1]!r} ({error}). Install it with: "
            f"pip install {BACKENDS[request.backend][1]}"
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
    _limit("RLIMIT_AS", MAX_MEMORY_BYTES)
    _limit("RLIMIT_FSIZE", MESSAGES_BYTES)
    _limit("RLIMIT_CORE", 0)
    with suppress(ImportError, MemoryError):  # told where it is asked for
        _loaded("pyav")
    line = sys.stdin.buffer.readline(MAX_REQUEST_BYTES)
    if line:
        asked = json.loads(line)
        _limit("RLIMIT_CPU", asked["cpu_seconds"])
        _serve(asked["task"], asked["given"], answers)
    os._exit(0)  # no clean-up of native libraries, which may hang


def _serve(task: str, given: Any, answers: BinaryIO) -> None:
    """One answer: the frames of a ``video``, an ``archive``, or the ``layers`` that hold."""
    try:
        if task == "video":
            _serve_video(Request(**given), answers)
        elif task == "archive":
            archive.ready()
            _limit("RLIMIT_AS", _taken_bytes() + ARCHIVE_BYTES)
            restricted(given)
            for kind, length, parts in archive.messages(given):
                answers.write(HEADER.pack(kind, length))
                answers.writelines(parts)
        else:
            _send(answers, b"L", json.dumps(restricted(None)).encode())
        _send(answers, b".")
    except UnreadableVideoError as error:
        _send(answers, b"E", str(error).encode("utf-8", "replace"))


def _serve_video(request: Request, answers: BinaryIO) -> None:
    with _in_words(request):
        _loaded(request.backend)  # while files can still be opened
    restricted(request.path)
    for event in decode(request):
        if isinstance(event, Plan):
            _send(answers, b"P", json.dumps(dataclasses.asdict(event)).encode())
        else:
            place, picture = event
            _send(answers, b"F", PLACE.pack(place), np.ascontiguousarray(picture).data)


def _leave_with_parent() -> None:
    """End where the starting thread ends, and let everything else on the machine go first."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def restricted(path: str | None) -> list[str]:
    """Give up every right but reading ``path``; the names of the layers that hold."""
    layers = ["limits"] if find_spec("resource") else []
    if sys.platform == "linux":
        layers += ["files"] if landlock.restrict(path) else []
        layers += ["calls"] if seccomp.restrict() else []
    return layers


def _taken_bytes() -> int:
    """Address space of this process; where that is not told, all that it may take."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return MAX_MEMORY_BYTES


def _send(answers: BinaryIO, kind: bytes, *parts: bytes | memoryview) -> None:
    answers.write(HEADER.pack(kind, sum(memoryview(part).nbytes for part in parts)))
    for part in parts:
        answers.write(part)
    answers.flush()


def _limit(name: str, most: int) -> None:
    """Have the system stop this process where it takes more; not every system can."""
    try:
        import resource

        limit = getattr(resource, name)
        _, hard = resource.getrlimit(limit)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (most, most))
    except (ImportError, AttributeError, ValueError, OSError):
        return
