"""Run calls that may block in a thread, so that waiting for them can be cancelled."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from gleanvid.errors import StoppedError

POLL_S = 0.1

T = TypeVar("T")


def in_background(function: Callable[..., T], *args: Any, **options: Any) -> Future[T]:
    """Start a call in a daemon thread, which ends with the program even if the call never does."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(function(*args, **options))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def polling(
    call: Future[Any], stop: threading.Event | None, within_s: float = math.inf
) -> Iterator[None]:
    """Wait for a call, yielding every ``POLL_S`` seconds so that the caller can report progress.

    Raises ``StoppedError`` once ``stop`` is set, and ``TimeoutError`` after ``within_s`` seconds.
    """
    end = time.monotonic() + within_s
    while not wait([call], min(POLL_S, within_s)).done:
        if stop is not None and stop.is_set():
            raise StoppedError
        if time.monotonic() > end:
            raise TimeoutError(f"the call took longer than {within_s:.0f} seconds")
        yield


def result_of(
    call: Future[T], stop: threading.Event | None = None, within_s: float = math.inf
) -> T:
    """Wait for the result of a call; raises its exception, and what :func:`polling` raises."""
    for _ in polling(call, stop, within_s):
        continue
    return call.result()
