"""Jobs, and the queue in which they wait for the model.

The job that came first uses the model first. Each has a deadline once it uses the model.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gleanvid.errors import BusyError, StoppedError

DEADLINE_S = 180.0
PLACES = 16
POLL_S = 0.2
LATE = (
    "Stopped: it took longer than {limit:g} seconds, the limit of this server. Take fewer frames, "
    "a lower retention ratio or a smaller model."
)
FULL = "{count} people are waiting for the model already. Try again in a minute."
DECODERS = 2  # clips that are decoded at a time
READERS = 8  # clips that may wait to be decoded
READERS_FULL = "{count} clips are waiting to be decoded. Try again in a minute."


class Work:
    """One job of one page, such as an answer, with its stop flag and the reason for stopping.

    ``live``: whether the job asks the question again because a setting changed (a live answer).
    """

    BY_HAND = "Stopped."

    def __init__(self, live: bool = False) -> None:
        self.live = live
        self.stop = threading.Event()
        self.over = threading.Event()  # set after the last update of the job
        self.why = ""
        self.decoded = (0, 0)  # frames of the clip: decoded so far, and in total

    def count(self, done: int, total: int) -> None:
        self.decoded = done, total

    def end(self, why: str = BY_HAND) -> None:
        """End the job for the reason ``why``; the model stops after its current layer.

        If the job has ended already, the first reason stays.
        """
        if not self.stop.is_set():
            self.why = why
            self.stop.set()


class Queue:
    """Lets ``slots`` jobs work at a time, in the order in which they came.

    ``places``: maximum number of jobs that may wait. ``full``: message if more would wait.
    """

    def __init__(self, slots: int, places: int, full: str) -> None:
        self.slots, self.places, self.full = slots, places, full
        self._jobs: list[Work] = []  # those that work, then those that wait
        self._changed = threading.Condition()

    def __len__(self) -> int:
        """Number of jobs that work or wait."""
        return len(self._jobs)

    def asked(self) -> int:
        """Return the number of jobs that work or wait, without ended ones."""
        return sum(not work.stop.is_set() for work in [*self._jobs])

    def wait(self, work: Work) -> Iterator[int]:
        """Enter the queue; yield the number of jobs before ``work``; return once it is 0.

        Call :meth:`leave` afterwards in any case. Raises :class:`BusyError`, and ``StoppedError``
        if the job is ended while it waits.
        """
        with self._changed:
            if len(self._jobs) >= self.places + self.slots:
                raise BusyError(self.full.format(count=self.places))
            self._jobs.append(work)
        announced = 0
        while True:
            with self._changed:
                if work.stop.is_set():
                    raise StoppedError
                ahead = max(0, self._jobs.index(work) - self.slots + 1)
                if not ahead:
                    self._begin(work)
                    return
                if ahead == announced:
                    self._changed.wait(POLL_S)
                    continue
            announced = ahead
            yield ahead

    def leave(self, work: Work) -> None:
        """Leave the queue, so that the next job runs. Does nothing for a job not in the queue."""
        with self._changed:
            if work in self._jobs:
                self._jobs.remove(work)
            self._changed.notify_all()

    @contextmanager
    def place(self, work: Work) -> Iterator[None]:
        """Wait in the queue without a message; leave it after the ``with`` block."""
        try:
            for _ in self.wait(work):
                continue
            yield
        finally:
            self.leave(work)

    def _begin(self, work: Work) -> None:
        """Called when ``work`` has waited."""


class ModelQueue(Queue):
    """Lets one job at a time use the model, and ends a job that uses it over ``deadline_s``."""

    def __init__(self, deadline_s: float = DEADLINE_S, places: int = PLACES) -> None:
        super().__init__(1, places, FULL)
        self.deadline_s = deadline_s
        self._timers: dict[Work, threading.Timer] = {}

    def _begin(self, work: Work) -> None:
        why = LATE.format(limit=self.deadline_s)
        timer = self._timers[work] = threading.Timer(self.deadline_s, work.end, [why])
        timer.daemon = True
        timer.start()

    def leave(self, work: Work) -> None:
        self.take_time(work)
        super().leave(work)

    def take_time(self, work: Work) -> None:
        """Take the deadline from the running job; the user can still stop it."""
        with self._changed:
            if timer := self._timers.pop(work, None):
                timer.cancel()
