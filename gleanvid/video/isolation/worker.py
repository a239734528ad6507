"""The decoding process: one request on standard input, its messages on standard output.

A process is started for every file, so this module imports neither torch nor ``gleanvid.types``,
which take long to import. The process gives up its rights (:mod:`.rights`) before it opens the
file. If a decoder hangs or crashes, only this process is lost.
"""

from __future__ import annotations

import ctypes
import dataclasses
import io
import json
import os
import signal
import sys
import zipfile
import zlib
from contextlib import suppress
from importlib import import_module
from typing import IO, Any

import numpy as np

from gleanvid.errors import refusing
from gleanvid.video import decoders
from gleanvid.video.isolation import bounds, rights
from gleanvid.video.isolation.messages import send, send_array
from gleanvid.video.plan import Plan, Request, UnreadableVideoError

MAX_MEMORY_BYTES = 4 * 2**30  # limit on the address space of this process
NICENESS = 10
PR_SET_PDEATHSIG = 1
DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, EOFError)


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not get between the frames
    _leave_with_parent()
    rights.limit("RLIMIT_AS", MAX_MEMORY_BYTES)
    rights.limit("RLIMIT_FSIZE", 0)
    with suppress(Exception):  # ``serve`` reports a failing import
        import_module(decoders.BACKENDS["pyav"][0])
    line = sys.stdin.buffer.readline()
    if line:
        request = json.loads(line)
        rights.limit("RLIMIT_CPU", request["cpu_seconds"])
        serve(request["task"], request["argument"], answers)
    os._exit(0)  # skip the clean-up of native libraries, which may hang


def _leave_with_parent() -> None:
    """Lower this process's priority; have it killed when the thread that started it ends."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def serve(task: str, argument: Any, answers: IO[bytes]) -> None:
    """Decode a "video" or unpack an "archive"; send the results or the error."""
    try:
        if task == "video":
            _serve_video(Request(**argument), answers)
        else:
            with refusing(UnreadableVideoError, bounds.NO_RUN, *DAMAGED):
                _serve_archive(argument, answers)
        send(answers, "end")
    except UnreadableVideoError as error:
        send(answers, "error", str(error).encode(errors="replace").decode())


def _serve_video(request: Request, answers: IO[bytes]) -> None:
    with decoders.explained(request):
        decoders.load(request)  # import now: after give_up, no file can be opened
    rights.give_up(request.path)
    for event in decoders.decode(request):
        if isinstance(event, Plan):
            send(answers, "plan", dataclasses.asdict(event))
        else:
            place, picture = event
            send(answers, "frame", place)
            send_array(answers, picture)


def _serve_archive(path: str, answers: IO[bytes]) -> None:
    np.savez_compressed(small := io.BytesIO(), one=np.ones(1))
    small.seek(0)
    np.load(small)["one"]  # imports what np.load imports when it is used
    rights.give_up(path)
    with zipfile.ZipFile(path) as archive:
        if sorted(archive.namelist()) != sorted(bounds.PARTS):
            raise ValueError(bounds.NO_RUN)
        send(answers, "facts", json.loads(archive.read("run.json")))
        with archive.open("run.npz") as part, np.load(part) as arrays:
            for name in arrays.files:
                send(answers, "array", name)
                send_array(answers, arrays[name])
