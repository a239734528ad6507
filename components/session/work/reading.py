"""Limits how many clips are decoded at once, before they queue for the model."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gleanvid.errors import BusyError, StoppedError

from .queue import POLL_S, Work

DECODERS = 2
FULL = "{count} clips are waiting to be decoded. Try again in a minute."


class Readers:
    """Lets ``places`` clips be decoded at once while up to ``waiting`` more wait."""

    def __init__(self, places: int = DECODERS, waiting: int = 8) -> None:
        self.places, self.waiting = places, waiting
        self._free = threading.BoundedSemaphore(places)
        self._inside = 0
        self._lock = threading.Lock()

    @contextmanager
    def place(self, work: Work) -> Iterator[None]:
        """Wait until the clip of ``work`` may be decoded; count it until the ``with`` block ends.

        Raises ``BusyError`` if too many wait already, and ``StoppedError`` if ``work`` ends.
        """
        with self._lock:
            if self._inside >= self.places + self.waiting:
                raise BusyError(FULL.format(count=self.waiting))
            self._inside += 1
        try:
            while not self._free.acquire(timeout=POLL_S):
                if work.stop.is_set():
                    raise StoppedError
            try:
                yield
            finally:
                self._free.release()
        finally:
            with self._lock:
                self._inside -= 1
