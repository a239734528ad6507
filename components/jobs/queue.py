"""The queue in which jobs wait for the model, and the running jobs of every page.

The job that came first uses the model first. Each has a deadline once it uses the model.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from cachetools import LRUCache

from gleanvid.errors import BusyError, StoppedError

DEADLINE_S = 180.0
PLACES = 16
POLL_S = 0.2
SESSIONS = 2_000  # maximum number of pages whose newest preview is remembered
# kinds of jobs: an answer, comparison or search; a preview or live answer; reading an upload
WORK, PREVIEW, UPLOAD = "work", "preview", "upload"
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


class Pages:
    """The running jobs of every open page, by the id of its session and the kind of the job.

    A page may have one job of each kind; a new one of the kinds ``PREVIEW`` and ``UPLOAD`` ends the
    one before.
    """

    def __init__(self, queue: ModelQueue) -> None:
        self._queue = queue
        self._lock = threading.RLock()
        self._jobs: dict[tuple[str, str], Work] = {}
        # newest preview or live answer of each session: (version of the settings, is live answer)
        self._newest: LRUCache[str, tuple[int, bool]] = LRUCache(SESSIONS)

    def start(self, session: str) -> bool:
        """Register new work of this session; return False if it already has running work."""
        with self._lock:
            is_free = (session, WORK) not in self._jobs
            if is_free:
                self._jobs[session, WORK] = Work()
            return is_free

    def begin(self, session: str, kind: str, live: bool = False) -> Work:
        """Start a job of this kind; end the previous one without a message."""
        with self._lock:
            self.end(session, kind)
            work = self._jobs[session, kind] = Work(live)
        return work

    def renew(self, session: str, work: Work) -> Work:
        """Replace ``work`` by a new job and return it; after :meth:`stop`, return ``work``."""
        with self._lock:
            if self._jobs.get((session, WORK)) is work:
                work = self._jobs[session, WORK] = Work()
        return work

    def begin_preview(
        self, session: str | None, version: int = 0, live: bool = False
    ) -> Work | None:
        """Start a preview or ``live`` answer of this session; return its job, or None if outdated.

        Every version of a page's settings has a preview, then a live answer. Returns None if the
        same job, or a later one in this order, was started before, unless ``version`` is 0
        (unknown). Also returns None for a live answer while a preview runs, as another live answer
        follows that preview. Without a session, the job belongs to no page and ends no other.
        """
        if session is None:
            return Work(live)
        with self._lock:
            before, newest = self._jobs.get((session, PREVIEW)), self._newest_of(session)
            is_early = live and before is not None and not before.live
            if is_early or (version and (version, live) <= newest):
                return None
            self._newest[session] = max(newest, (version, live))
            return self.begin(session, PREVIEW, live)

    def end_preview(self, session: str, version: int = 0) -> None:
        """End the running preview of this session without a message.

        Afterwards no preview of ``version`` or of an older version can start.
        """
        with self._lock:
            self._newest[session] = max(self._newest_of(session), (version, False))
            self.end(session, PREVIEW)

    def end_older_preview(self, session: str, version: int) -> None:
        """End the preview of this session without a message if it is older than ``version``."""
        with self._lock:
            if not version or self._newest_of(session) < (version, False):
                self.end(session, PREVIEW)

    def _newest_of(self, session: str) -> tuple[int, bool]:
        return self._newest.get(session, (0, False))

    def end(self, session: str, kind: str) -> None:
        """End the job of this kind without a message."""
        with self._lock:
            before = self._jobs.pop((session, kind), None)
        if before is not None:
            before.end("")

    def has(self, session: str | None, kind: str = WORK) -> bool:
        """Whether a job of this kind is running that was not stopped."""
        return (session, kind) in self._jobs

    def work(self, session: str) -> Work:
        """Return the running work of this session; if there is none, new work that is ended."""
        gone = Work()
        gone.end()
        return self._jobs.get((session, WORK), gone)

    def stop(self, session: str) -> list[Work]:
        """Stop and return all jobs of this session; the model stops after its current layer."""
        with self._lock:
            entered = [self._jobs.pop((session, kind), None) for kind in (WORK, PREVIEW, UPLOAD)]
        works = [work for work in entered if work is not None]
        for work in works:
            work.end()
        return works

    def leave(self, session: str | None, work: Work) -> None:
        """End ``work`` and take it out of the model queue; other jobs continue."""
        work.end()
        self._queue.leave(work)
        with self._lock:
            self._jobs = {key: job for key, job in self._jobs.items() if job is not work}
        work.over.set()
