"""Runs tasks in a decoding process. A hang or a crash becomes ``UnreadableVideoError``.

A task is to decode a video or to unpack a saved run. The process is a plain subprocess rather than
one of ``multiprocessing``, because it then needs no ``__main__`` guard. It works from threads,
notebooks and scripts on standard input, and can be killed at any moment. Frames come back as raw
bytes through its standard output, one at a time, so that no process holds them twice. A hostile
file may have taken over the process, so everything that it sends is checked.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from gleanvid.errors import refusing
from gleanvid.video.isolation import archive, bounds, spare
from gleanvid.video.isolation.messages import FRAME, LAYER_NAMES, PLACE, PLAN, read, receive
from gleanvid.video.isolation.spare import Decoder
from gleanvid.video.plan import MAX_RESULT_BYTES, Events, Plan, Request, UnreadableVideoError

FORGED = "The decoder returned something other than frames of {name}; the file is not read."
MAX_PLAN_BYTES = 2**20
POLL_S = 0.1  # seconds between two checks whether a task must end
MOST_THREADS = 512  # limit on a decoding process's threads; the AV1 decoder dav1d starts up to 256


def decode(request: Request, timeout_s: float, stop: threading.Event | None = None) -> Events:
    """Decode a video in a separate process: yield a plan of the frames, then the frames.

    The process is killed within ``POLL_S`` seconds after ``stop`` is set, and when the iteration
    ends.
    """
    with _running("video", dataclasses.asdict(request), timeout_s, stop) as (decoder, expired):
        try:
            yield from _checked(decoder, request)
        except EOFError as error:
            if expired.is_set():
                raise UnreadableVideoError(
                    f"Reading {request.name} took longer than {timeout_s:g} seconds and was "
                    "stopped. Take a shorter clip or fewer frames, or allow more time."
                ) from error
            raise UnreadableVideoError(_why_it_died(request, decoder)) from error


def layers() -> tuple[str, ...]:
    """Return which of ``rights.LAYERS`` restrict a decoding process on this machine."""
    with _running("layers", None, 30.0) as (decoder, _):
        try:
            for kind, length in receive(decoder.stdout):
                if kind == LAYER_NAMES and length < 1024:
                    return tuple(json.loads(read(decoder.stdout, length)))
        except (EOFError, ValueError):
            pass
        return ()


def unpacked(path: str, timeout_s: float) -> tuple[Any, dict[str, np.ndarray]]:
    """Unpack a saved run's archive in a separate process; return its JSON and its arrays.

    Raises ``UnreadableVideoError`` if the archive is damaged, exceeds a limit of :mod:`.bounds` or
    takes too long to read.
    """
    refused = refusing(UnreadableVideoError, bounds.NO_RUN, EOFError)
    with _running("archive", str(Path(path).resolve()), timeout_s) as (decoder, _), refused:
        return archive.received_run(decoder.stdout)


@contextmanager
def _running(
    task: str, argument: Any, timeout_s: float, stop: threading.Event | None = None
) -> Iterator[tuple[Decoder, threading.Event]]:
    """Start a decoding process with a task; yield the process and its timeout event.

    The process is killed after ``timeout_s`` seconds, when ``stop`` is set, or if it has more than
    ``MOST_THREADS`` threads. The timeout event is set only in the first case.
    """
    try:
        decoder = spare.KEPT.take()
    except OSError as error:
        raise UnreadableVideoError(
            f"The video reader cannot be started ({error.strerror})."
        ) from error
    over, expired = threading.Event(), threading.Event()
    end = time.monotonic() + timeout_s

    def watch() -> None:
        while not over.wait(POLL_S):
            if time.monotonic() > end:
                expired.set()
            is_stopped = stop is not None and stop.is_set()
            if expired.is_set() or is_stopped or decoder.threads() > MOST_THREADS:
                decoder.process.kill()
                return

    threading.Thread(target=watch, daemon=True).start()
    cpu_seconds = int(timeout_s * (os.cpu_count() or 1)) + 1
    request = {"task": task, "argument": argument, "cpu_seconds": cpu_seconds}
    try:
        # If the process has died, reading its output raises EOFError later.
        with suppress(BrokenPipeError), decoder.stdin:
            decoder.stdin.write(json.dumps(request).encode() + b"\n")
        yield decoder, expired
    finally:
        over.set()
        decoder.end()
        spare.KEPT.refill()


def _checked(decoder: Decoder, request: Request) -> Events:
    """Yield plans and frames as the process sends them.

    Raises ``UnreadableVideoError`` if they do not fit ``request``.
    """
    plan: Plan | None = None
    for kind, length in receive(decoder.stdout):
        if kind == PLAN and length <= MAX_PLAN_BYTES:
            yield (plan := _plan(read(decoder.stdout, length), request))
        elif kind == FRAME and plan and length == PLACE.size + 3 * math.prod(plan.size):
            (place,) = PLACE.unpack(read(decoder.stdout, PLACE.size))
            pixels = np.frombuffer(read(decoder.stdout, length - PLACE.size), np.uint8)
            if not 0 <= place < len(plan.indices):
                raise _forged(request)
            yield place, pixels.reshape(*plan.size, 3)
        else:
            raise _forged(request)


def _plan(text: bytes, request: Request) -> Plan:
    """Read a plan from JSON. Raises ``UnreadableVideoError`` unless it fits ``request``."""
    with refusing(UnreadableVideoError, FORGED.format(name=request.name)):
        fields = json.loads(text)
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
        if sound:
            return plan
    raise _forged(request)


def _forged(request: Request) -> UnreadableVideoError:
    return UnreadableVideoError(FORGED.format(name=request.name))


def _why_it_died(request: Request, decoder: Decoder) -> str:
    code, lines = decoder.process.wait(), decoder.complaints()
    detail = f" (signal {-code})" if code < 0 else f" ({lines[-1][:200]})" if lines and code else ""
    return f"The decoder crashed on {request.name}{detail}; the file is damaged or far too large."
