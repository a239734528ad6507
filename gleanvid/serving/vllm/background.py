"""Steps that may block, taken in a thread of their own, so that who waits for them can leave."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from queue import Empty, Full, Queue
from typing import Any, TypeVar

from gleanvid.errors import StoppedError

POLL_S = 0.1
HELD = 8  # items that may wait to be taken

T = TypeVar("T")


def aside(
    make: Callable[[], Generator[T, None, None]],
    stop: threading.Event,
    within_s: float = math.inf,
) -> Iterator[T]:
    """The items of ``make()``, whose failures are raised here.

    Raises ``StoppedError`` within ``POLL_S`` of ``stop`` and ``TimeoutError`` after ``within_s``
    seconds, whatever the thread waits for. The thread then closes what it made at its next item, so
    it must not wait for ever.
    """
    came: Queue[tuple[str, Any]] = Queue(HELD)
    left = threading.Event()
    threading.Thread(target=_hand_over, args=(make, came, left), daemon=True).start()
    end = time.monotonic() + within_s
    try:
        while True:
            if stop.is_set():
                raise StoppedError
            if time.monotonic() > end:
                raise TimeoutError(f"it took longer than {within_s:.0f} seconds")
            try:
                kind, item = came.get(timeout=POLL_S)
            except Empty:
                continue
            if kind == "failure":
                raise item
            if kind == "end":
                return
            yield item
    finally:
        left.set()


def _hand_over(
    make: Callable[[], Generator[Any, None, None]],
    came: Queue[tuple[str, Any]],
    left: threading.Event,
) -> None:
    def hand(kind: str, item: Any = None) -> bool:
        """Whether somebody is still there."""
        while not left.is_set():
            try:
                came.put((kind, item), timeout=POLL_S)
                return True
            except Full:
                continue
        return False

    try:
        with closing(make()) as items:
            for item in items:
                if not hand("item", item):
                    return
        hand("end")
    except BaseException as error:  # whoever waits has to hear of it
        hand("failure", error)
