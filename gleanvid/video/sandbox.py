"""Decoding in a process of its own, so that a hang or a crash in native code is only a sentence.

A plain subprocess rather than ``multiprocessing``: it needs no ``__main__`` guard, works from
threads, notebooks and scripts on standard input, and can be killed at any moment. Pictures come
back as raw bytes through its standard output, one at a time, so neither side holds them twice.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

import numpy as np

from gleanvid.video.plan import Events, Plan, Request, UnreadableVideoError
from gleanvid.video.worker import HEADER, PLACE

MAX_MEMORY_BYTES = 4 * 2**30  # address space of the decoding process

_START = "import sys; sys.path[:] = sys.argv[1:]; from gleanvid.video.worker import main; main()"
_HOME = str(Path(__file__).resolve().parents[2])  # where this very gleanvid is imported from


def decode(request: Request, timeout_s: float) -> Events:
    """The plan and the pictures of ``request``. However this ends, the process ends with it."""
    with tempfile.TemporaryFile() as errors, _started(errors) as process:
        assert process.stdin is not None and process.stdout is not None
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(timeout_s, expire)
        timer.daemon = True
        timer.start()
        try:
            _ask(process.stdin, request, timeout_s)
            yield from _answers(process.stdout)
        except EOFError as error:
            if expired.is_set():
                raise UnreadableVideoError(
                    f"Reading {request.name} took longer than {timeout_s:g} seconds and was "
                    "stopped. Take a shorter clip or fewer frames, or allow more time."
                ) from error
            raise UnreadableVideoError(_why_it_died(request, process.wait(), errors)) from error
        finally:
            timer.cancel()


@contextmanager
def _started(errors: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", _START, *sys.path, _HOME]
    few_threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # numpy here only copies
    environment = {**os.environ, **few_threads}
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, env=environment)
    except OSError as error:
        raise UnreadableVideoError(
            f"The video reader cannot be started ({error.strerror})."
        ) from error
    with process:
        try:
            yield process
        finally:
            process.kill()


def _ask(stdin: IO[bytes], request: Request, timeout_s: float) -> None:
    asked = {
        "request": dataclasses.asdict(request),
        "memory_bytes": MAX_MEMORY_BYTES,
        "cpu_seconds": int(timeout_s * (os.cpu_count() or 1)) + 1,
    }
    try:
        with stdin:
            stdin.write(json.dumps(asked).encode())
    except BrokenPipeError as error:
        raise EOFError from error


def _answers(stdout: IO[bytes]) -> Events:
    plan: Plan | None = None
    while True:
        kind, length = HEADER.unpack(_read(stdout, HEADER.size))
        if kind == b".":
            return
        if kind == b"E":
            raise UnreadableVideoError(_read(stdout, length).decode())
        if kind == b"P":
            plan = _plan(json.loads(_read(stdout, length)))
            yield plan
        elif plan is not None:
            (place,) = PLACE.unpack(_read(stdout, PLACE.size))
            picture = np.frombuffer(_read(stdout, length - PLACE.size), np.uint8)
            yield place, picture.reshape(*plan.size, 3)


def _plan(fields: dict) -> Plan:
    pairs = {name: tuple(fields[name]) for name in ("size", "source_size", "notes")}
    return Plan(**{**fields, **pairs})


def _read(stream: BinaryIO | IO[bytes], count: int) -> bytes:
    """Exactly ``count`` bytes; raises ``EOFError`` where the process has ended before."""
    data = stream.read(count)
    if len(data) < count:
        raise EOFError
    return data


def _why_it_died(request: Request, code: int, errors: IO[bytes]) -> str:
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    said = f" ({lines[-1][:200]})" if lines and code > 0 else ""
    if code < 0:
        said = f" (signal {-code})"
    return f"The decoder crashed on {request.name}{said}; the file is damaged or far too large."
