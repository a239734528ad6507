"""The decoding process: one request on standard input, its messages on standard output.

It starts for every file, so it imports neither torch nor ``gleanvid.types``. Before it opens the
file, it gives up the rights in :mod:`.rights`. A hang or a crash then ends only this process.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import signal
import sys
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np

from gleanvid.video import decoders
from gleanvid.video.isolation import archive, rights
from gleanvid.video.isolation.messages import END, ERROR, FRAME, LAYER_NAMES, PLACE, PLAN, send
from gleanvid.video.plan import Plan, Request, UnreadableVideoError

MAX_MEMORY_BYTES = 4 * 2**30  # limit on the address space of this process
ARCHIVE_BYTES = 64 * 2**20  # additional memory for unpacking an archive
MAX_REQUEST_BYTES = 2**16
MAX_FILE_BYTES = 2**16  # limit for standard error, a file in which native libraries write messages
NICENESS = 10
PR_SET_PDEATHSIG = 1


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of native libraries must not get between the frames
    _leave_with_parent()
    rights.limit("RLIMIT_AS", MAX_MEMORY_BYTES)
    rights.limit("RLIMIT_FSIZE", MAX_FILE_BYTES)
    rights.limit("RLIMIT_CORE", 0)
    with suppress(ImportError, MemoryError):  # missing PyAV is reported when a request needs it
        decoders.load("pyav")
    line = sys.stdin.buffer.readline(MAX_REQUEST_BYTES)
    if line:
        request = json.loads(line)
        rights.limit("RLIMIT_CPU", request["cpu_seconds"])
        serve(request["task"], request["argument"], answers)
    os._exit(0)  # no clean-up of native libraries, which may hang


def _leave_with_parent() -> None:
    """Lower this process's priority, and end it when the thread that started it ends."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def serve(task: str, argument: Any, answers: BinaryIO) -> None:
    """Do the task "video", "archive" or "layers", and send its results or its error."""
    try:
        if task == "video":
            _serve_video(Request(**argument), answers)
        elif task == "archive":
            _serve_archive(argument, answers)
        else:
            send(answers, LAYER_NAMES, json.dumps(rights.give_up(None)).encode())
        send(answers, END)
    except UnreadableVideoError as error:
        send(answers, ERROR, str(error).encode("utf-8", "replace"))


def _serve_video(request: Request, answers: BinaryIO) -> None:
    with decoders.explained(request):
        decoders.load(request.backend)  # give_up forbids later imports
    rights.give_up(request.path)
    for event in decoders.decode(request):
        if isinstance(event, Plan):
            send(answers, PLAN, json.dumps(dataclasses.asdict(event)).encode())
        else:
            place, picture = event
            send(answers, FRAME, PLACE.pack(place), np.ascontiguousarray(picture).data)


def _serve_archive(path: str, answers: BinaryIO) -> None:
    archive.import_all()
    rights.limit_growth(ARCHIVE_BYTES)
    rights.give_up(path)
    archive.send_run(path, answers)
