"""A FIFO queue for the model, with a deadline for each job."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from gleanvid.types import StoppedError

DEADLINE_S = 180.0
PLACES = 16
POLL_S = 0.2
LATE = (
    "Stopped: it took longer than {limit:g} seconds, the limit of this server. Take fewer frames, "
    "a lower retention ratio or a smaller model."
)
FULL = "{count} people are waiting for the model already. Try again in a minute."


class BusyError(RuntimeError):
    """Too many wait already; the message says so."""


class Work:
    """One job of one page: whether it was asked to end, and why."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.over = threading.Event()  # no more updates will come of it
        self.why = ""

    def end(self, why: str = "Stopped.") -> None:
        """End the job: the model stops after its current layer. The first reason given counts."""
        if not self.stop.is_set():
            self.why = why
            self.stop.set()


class Line:
    """One job at a time uses the model; one that takes longer than ``deadline_s`` is ended."""

    def __init__(self, deadline_s: float = DEADLINE_S, places: int = PLACES) -> None:
        self.deadline_s, self.places = deadline_s, places
        self._waiting: list[Work] = []
        self._timers: dict[Work, threading.Timer] = {}
        self._changed = threading.Condition()

    def __len__(self) -> int:
        """How many use the model or wait for it."""
        return len(self._waiting)

    def wait(self, work: Work) -> Iterator[int]:
        """Queue up; yields how many jobs come before ``work``, and returns once none does.

        Call :meth:`leave` afterwards in any case. Raises :class:`BusyError`, and ``StoppedError``
        if the job is ended while it waits.
        """
        with self._changed:
            if len(self._waiting) > self.places:
                raise BusyError(FULL.format(count=self.places))
            self._waiting.append(work)
        announced = 0
        while True:
            with self._changed:
                if work.stop.is_set():
                    raise StoppedError
                ahead = self._waiting.index(work)
                if not ahead:
                    self._start(work)
                    return
                if ahead == announced:
                    self._changed.wait(POLL_S)
                    continue
            announced = ahead
            yield ahead

    def leave(self, work: Work) -> None:
        """Let the next one in. Does nothing for a job that is not in the queue."""
        with self._changed:
            if timer := self._timers.pop(work, None):
                timer.cancel()
            if work in self._waiting:
                self._waiting.remove(work)
            self._changed.notify_all()

    def _start(self, work: Work) -> None:
        timer = threading.Timer(self.deadline_s, work.end, [LATE.format(limit=self.deadline_s)])
        timer.daemon = True
        self._timers[work] = timer
        timer.start()
