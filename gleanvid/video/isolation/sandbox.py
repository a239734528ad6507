"""Runs tasks in a decoding process. A hang or a crash becomes ``UnreadableVideoError``.

A task is to decode a video or to unpack a saved run. The process is a plain subprocess rather than
one of ``multiprocessing``, because it then needs no ``__main__`` guard. It works from threads,
notebooks and scripts on standard input, and can be killed at any moment. Frames come back through
its standard output, one at a time, so that no process holds them twice.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from gleanvid.errors import MALFORMED, refusing
from gleanvid.video.isolation import bounds, spare
from gleanvid.video.isolation.messages import read_array, receive
from gleanvid.video.isolation.spare import Decoder
from gleanvid.video.plan import MAX_RESULT_BYTES, Events, Plan, Request, UnreadableVideoError

LATE = (
    "Reading {name} took longer than {limit:g} seconds and was stopped. Take a shorter clip or "
    "fewer frames, or allow more time."
)
CRASHED = "The decoder crashed on {}{}; the file is damaged or far too large."
FORGED = "The decoder returned something other than frames of {}; the file is not read."
POLL_S = 0.1  # seconds between two checks whether a task must end


def decode(request: Request, timeout_s: float, stop: threading.Event | None = None) -> Events:
    """Decode a video in a separate process: yield a plan of the frames, then the frames.

    The process is killed within ``POLL_S`` seconds after ``stop`` is set, and when the iteration
    ends. Raises ``UnreadableVideoError`` for a bad file, a crash, or after ``timeout_s`` seconds.
    """
    end = time.monotonic() + timeout_s
    with _running("video", dataclasses.asdict(request), timeout_s, stop) as decoder:
        try:
            yield from _checked(decoder.stdout, request)
        except (EOFError, *MALFORMED) as error:
            if time.monotonic() > end:
                reason = LATE.format(name=request.name, limit=timeout_s)
            elif isinstance(error, EOFError):
                code = decoder.process.wait()
                reason = CRASHED.format(request.name, f" (signal {-code})" if code < 0 else "")
            else:
                reason = FORGED.format(request.name)
            raise UnreadableVideoError(reason) from error


def unpacked(path: str, timeout_s: float) -> tuple[Any, dict[str, np.ndarray]]:
    """Unpack a saved run's archive in a separate process; return its JSON and its arrays.

    Raises ``UnreadableVideoError`` if the archive is damaged, exceeds a limit of :mod:`.bounds` or
    takes too long to read.
    """
    facts, room = None, bounds.MAX_RUN_BYTES
    arrays: dict[str, np.ndarray] = {}
    refused = refusing(UnreadableVideoError, bounds.NO_RUN, EOFError)
    with _running("archive", str(Path(path).resolve()), timeout_s) as decoder, refused:
        try:
            for kind, value in receive(decoder.stdout):
                if kind == "facts":
                    facts = value
                elif kind == "array" and len(arrays) < bounds.MAX_RUN_ARRAYS:
                    arrays[value] = read_array(decoder.stdout, room)
                    room -= arrays[value].nbytes
        except OverflowError as error:
            raise UnreadableVideoError(bounds.TOO_LARGE) from error
    return facts, arrays


@contextmanager
def _running(
    task: str, argument: Any, timeout_s: float, stop: threading.Event | None = None
) -> Iterator[Decoder]:
    """Give a decoding process a task; kill it after ``timeout_s`` or when ``stop`` is set."""
    try:
        decoder = spare.KEPT.take()
    except OSError as error:
        raise UnreadableVideoError(
            f"The video reader cannot be started ({error.strerror})."
        ) from error
    over, end = threading.Event(), time.monotonic() + timeout_s

    def watch() -> None:
        while not over.wait(POLL_S):
            if time.monotonic() > end or (stop is not None and stop.is_set()):
                decoder.process.kill()
                return

    threading.Thread(target=watch, daemon=True).start()
    cpu_seconds = int(timeout_s * (os.cpu_count() or 1)) + 1
    request = {"task": task, "argument": argument, "cpu_seconds": cpu_seconds}
    try:
        # If the process has died, reading its output raises EOFError later.
        with suppress(BrokenPipeError), decoder.stdin:
            decoder.stdin.write(json.dumps(request).encode() + b"\n")
        yield decoder
    finally:
        over.set()
        decoder.end()
        spare.KEPT.refill()


def _checked(pipe: IO[bytes], request: Request) -> Events:
    """Yield plans and frames as the process sends them.

    Raises ``ValueError`` or another error of ``MALFORMED`` if they do not fit ``request``.
    """
    plan: Plan | None = None
    for kind, value in receive(pipe):
        if kind == "plan":
            yield (plan := _plan(value, request))
        elif kind == "frame" and plan and type(value) is int and 0 <= value < len(plan.indices):
            frame = read_array(pipe, 3 * math.prod(plan.size))
            if frame.dtype != np.uint8 or frame.shape != (*plan.size, 3):
                raise ValueError("not a frame of the plan")
            yield value, frame
        else:
            raise ValueError(f"unexpected message {kind!r}")


def _plan(fields: Mapping[str, Any], request: Request) -> Plan:
    """Return a plan of ``fields``. Raises an error unless it fits ``request``."""
    pairs = {name: tuple(fields[name]) for name in ("size", "source_size", "notes")}
    plan = Plan(**{**fields, **pairs})
    count, sides = len(plan.indices), (*plan.size, *plan.source_size)
    whole = (*plan.indices, *sides, plan.total_frames)
    numbers = (*plan.timestamps, plan.fps, plan.duration)
    sound = (
        1 <= count == len(plan.timestamps) <= request.num_frames
        and len(plan.size) == len(plan.source_size) == 2
        and all(type(number) is int and number >= 0 for number in whole)
        and all(isinstance(number, float | int) for number in numbers)
        and min(sides) > 0
        and count * math.prod(plan.size) * 3 <= MAX_RESULT_BYTES
        and all(isinstance(note, str) for note in plan.notes)
    )
    if not sound:
        raise ValueError("not a plan for the request")
    return plan
