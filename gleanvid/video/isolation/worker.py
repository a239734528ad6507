"""The decoding process: one request on standard input, its messages on standard output.

A process is started for every file, so this module imports neither torch nor ``gleanvid.types``,
which take long to import. The process gives up its rights (:mod:`.rights`) before it opens the
file. If a decoder hangs or crashes, only this process is lost.
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
MAX_FILE_BYTES = 2**16  # limit on the file with standard error (messages of libraries)
NICENESS = 10
PR_SET_PDEATHSIG = 1


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not get between the frames
    _leave_with_parent()
    rights.limit("RLIMIT_AS", MAX_MEMORY_BYTES)
    rights.limit("RLIMIT_FSIZE", MAX_FILE_BYTES)
    rights.limit("RLIMIT_CORE", 0)
    with suppress(ImportError, MemoryError):  # if PyAV is missing, ``serve`` reports it
        decoders.load("pyav")
    line = sys.stdin.buffer.readline(MAX_REQUEST_BYTES)
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


def serve(task: str, argument: Any, answers: BinaryIO) -> None:
    """Do a task and send its results or its error.

    "video" decodes frames, and "archive" unpacks a saved run. Any other task ("layers") only gives
    up this process's rights, such as opening files, and sends which of ``rights.LAYERS`` are in
    force.
    """
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
        decoders.load(request.backend)  # import now: after give_up, no file can be opened
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
