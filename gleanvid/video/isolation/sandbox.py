"""Decodes in a separate process, so that a hang or crash in native code becomes a ``VideoError``.

A plain subprocess rather than ``multiprocessing``: it needs no ``__main__`` guard, works from
threads, notebooks and scripts on standard input, and can be killed at any moment. Pictures come
back as raw bytes through its standard output, one at a time, so neither side holds them twice. What
comes back is checked: a process that a hostile file has taken over can send nothing but pictures of
the size it announced.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from gleanvid.video.isolation import bounds, spare
from gleanvid.video.isolation.spare import Decoder
from gleanvid.video.isolation.worker import HEADER, PLACE
from gleanvid.video.plan import MAX_RESULT_BYTES, Events, Plan, Request, UnreadableVideoError

MAX_PLAN_BYTES = 2**20
MAX_SENTENCE_BYTES = 2**12
POLL_S = 0.1  # between two checks whether a reading shall end
LAYERS = {  # what a decoding process has given up, as it tells it itself
    "limits": "memory, time and new files are limited",
    "files": "no other file can be read",
    "calls": "no network, programs or signals",
}


def decode(request: Request, timeout_s: float, stop: threading.Event | None = None) -> Events:
    """The plan and the pictures of ``request``. However this ends, the process ends with it.

    Once ``stop`` is set the process is ended too, within ``POLL_S``.
    """
    with _taken() as decoder, _leash(decoder, timeout_s, stop) as expired:
        try:
            _ask(decoder, "video", dataclasses.asdict(request), timeout_s)
            yield from _answers(decoder, request)
        except EOFError as error:
            if expired.is_set():
                raise UnreadableVideoError(
                    f"Reading {request.name} took longer than {timeout_s:g} seconds and was "
                    "stopped. Take a shorter clip or fewer frames, or allow more time."
                ) from error
            raise UnreadableVideoError(_why_it_died(request, decoder)) from error


def layers() -> tuple[str, ...]:
    """The names in ``LAYERS`` of what a decoding process on this machine gives up."""
    with _taken() as decoder, _leash(decoder, 30.0, None):
        try:
            _ask(decoder, "layers", None, 30.0)
            kind, length = HEADER.unpack(_read(decoder, HEADER.size))
            found = json.loads(_read(decoder, length)) if kind == b"L" and length < 1024 else []
            return tuple(name for name in LAYERS if name in found)
        except (EOFError, ValueError):
            return ()


def unpacked(path: str, timeout_s: float) -> tuple[Any, dict[str, np.ndarray]]:
    """The JSON and the arrays of a saved run's archive, within :mod:`.bounds`.

    Raises ``UnreadableVideoError``.
    """
    with _taken() as decoder, _leash(decoder, timeout_s, None):
        try:
            _ask(decoder, "archive", str(Path(path).resolve()), timeout_s)
            return _parts(decoder)
        except (EOFError, ValueError, TypeError, RecursionError) as error:
            raise UnreadableVideoError(bounds.NO_RUN) from error


@contextmanager
def _taken() -> Iterator[Decoder]:
    try:
        decoder = spare.KEPT.take()
    except OSError as error:
        raise UnreadableVideoError(
            f"The video reader cannot be started ({error.strerror})."
        ) from error
    try:
        yield decoder
    finally:
        decoder.end()
        spare.KEPT.refill()


@contextmanager
def _leash(
    decoder: Decoder, timeout_s: float, stop: threading.Event | None
) -> Iterator[threading.Event]:
    """Ends the process when its time is up, which the event then tells, or ``stop`` is set."""
    over, expired = threading.Event(), threading.Event()
    end = time.monotonic() + timeout_s

    def watch() -> None:
        while not over.wait(POLL_S):
            if time.monotonic() > end:
                expired.set()
            if expired.is_set() or (stop is not None and stop.is_set()):
                decoder.kill()
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield expired
    finally:
        over.set()


def _ask(decoder: Decoder, task: str, given: Any, timeout_s: float) -> None:
    cpu_seconds = int(timeout_s * (os.cpu_count() or 1)) + 1
    asked = {"task": task, "given": given, "cpu_seconds": cpu_seconds}
    try:
        with decoder.stdin as stdin:
            stdin.write(json.dumps(asked).encode() + b"\n")
    except BrokenPipeError as error:
        raise EOFError from error


def _answers(decoder: Decoder, request: Request) -> Events:
    plan: Plan | None = None
    while True:
        kind, length = HEADER.unpack(_read(decoder, HEADER.size))
        if kind == b".":
            return
        if kind == b"E" and length <= MAX_SENTENCE_BYTES:
            raise UnreadableVideoError(_read(decoder, length).decode("utf-8", "replace"))
        if kind == b"P" and length <= MAX_PLAN_BYTES:
            yield (plan := _plan(_read(decoder, length), request))
        elif kind == b"F" and plan and length == PLACE.size + 3 * math.prod(plan.size):
            (place,) = PLACE.unpack(_read(decoder, PLACE.size))
            picture = np.frombuffer(_read(decoder, length - PLACE.size), np.uint8)
            if not 0 <= place < len(plan.indices):
                raise _forged(request)
            yield place, picture.reshape(*plan.size, 3)
        else:
            raise _forged(request)


def _parts(decoder: Decoder) -> tuple[Any, dict[str, np.ndarray]]:
    """The messages of :mod:`.archive`. Raises ``ValueError`` and the like for any others."""
    arrays: dict[str, np.ndarray] = {}
    facts, room = None, bounds.MAX_RUN_BYTES
    while True:
        kind, length = HEADER.unpack(_read(decoder, HEADER.size))
        if kind == b"." and facts is not None:
            return facts, arrays
        if kind == b"E" and length <= MAX_SENTENCE_BYTES:
            raise UnreadableVideoError(_read(decoder, length).decode("utf-8", "replace"))
        if length > bounds.MAX_JSON_BYTES or not bounds.fits(text := _read(decoder, length)):
            raise ValueError(bounds.TOO_LARGE)
        if kind == b"J":
            facts = json.loads(text.decode())
        elif kind == b"A" and len(arrays) < bounds.MAX_RUN_ARRAYS:
            name, array = _array(decoder, json.loads(text.decode()), room)
            arrays[name], room = array, room - array.nbytes
        else:
            raise ValueError(bounds.NO_RUN)


def _array(decoder: Decoder, about: list[Any], room: int) -> tuple[str, np.ndarray]:
    name, kind, shape, fortran = about
    dtype, size = np.dtype(str(kind)), math.prod(shape)
    announced = HEADER.unpack(_read(decoder, HEADER.size))
    plain = dtype.kind in "biuf" and all(type(side) is int and side >= 0 for side in shape)
    if not plain or size * dtype.itemsize > room or announced != (b"D", size * dtype.itemsize):
        raise ValueError(bounds.NO_RUN)
    array = np.empty(size, dtype)
    if decoder.stdout.readinto(array.view(np.uint8)) < array.nbytes:  # type: ignore[attr-defined]
        raise EOFError
    return str(name), array.reshape(shape, order="F" if fortran else "C")


def _plan(text: bytes, request: Request) -> Plan:
    """The plan that this JSON holds, where it is one for ``request``."""
    try:
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
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _forged(request) from error
    if not sound:
        raise _forged(request)
    return plan


def _forged(request: Request) -> UnreadableVideoError:
    return UnreadableVideoError(
        f"The decoder gave something else than pictures of {request.name}; the file is not read."
    )


def _read(decoder: Decoder, count: int) -> bytes:
    """Exactly ``count`` bytes; raises ``EOFError`` where the process has ended before."""
    data = decoder.stdout.read(count)
    if len(data) < count:
        raise EOFError
    return data


def _why_it_died(request: Request, decoder: Decoder) -> str:
    code, errors = decoder.wait(), decoder.errors
    errors.seek(0)
    lines = _lines(errors)
    detail = f" ({lines[-1][:200]})" if lines and code > 0 else ""
    if code < 0:
        detail = f" (signal {-code})"
    return f"The decoder crashed on {request.name}{detail}; the file is damaged or far too large."


def _lines(errors: IO[bytes]) -> list[str]:
    return errors.read(2**16).decode(errors="replace").strip().splitlines()
