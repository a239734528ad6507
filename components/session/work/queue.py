"""The queue in which jobs wait for the model, and the running jobs of every page.

The job that came first uses the model first. Each has a deadline once it uses the model.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

from cachetools import LRUCache

from gleanvid.errors import BusyError, StoppedError

DEADLINE_S = 180.0
PLACES = 16
POLL_S = 0.2
SESSIONS = 2_000  # maximum number of pages whose newest preview is remembered
LATE = (
    "Stopped: it took longer than {limit:g} seconds, the limit of this server. Take fewer frames, "
    "a lower retention ratio or a smaller model."
)
FULL = "{count} people are waiting for the model already. Try again in a minute."


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


class ModelQueue:
    """Lets one job at a time use the model, and ends a job that uses it over ``deadline_s``.

    ``places``: maximum number of jobs that may wait.
    """

    def __init__(self, deadline_s: float = DEADLINE_S, places: int = PLACES) -> None:
        self.deadline_s, self.places = deadline_s, places
        self._waiting: list[Work] = []
        self._timers: dict[Work, threading.Timer] = {}
        self._changed = threading.Condition()

    def __len__(self) -> int:
        """Number of jobs that use the model or wait for it."""
        return len(self._waiting)

    def asked(self) -> int:
        """Return the number of jobs that use the model or wait for it, without ended ones."""
        return sum(not work.stop.is_set() for work in [*self._waiting])

    def wait(self, work: Work) -> Iterator[int]:
        """Enter the queue; yield the number of jobs before ``work``; return once it is 0.

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
                    why = LATE.format(limit=self.deadline_s)
                    timer = self._timers[work] = threading.Timer(self.deadline_s, work.end, [why])
                    timer.daemon = True
                    timer.start()
                    return
                if ahead == announced:
                    self._changed.wait(POLL_S)
                    continue
            announced = ahead
            yield ahead

    def leave(self, work: Work) -> None:
        """Leave the queue, so that the next job runs. Does nothing for a job not in the queue."""
        with self._changed:
            self.take_time(work)
            if work in self._waiting:
                self._waiting.remove(work)
            self._changed.notify_all()

    def take_time(self, work: Work) -> None:
        """Take the deadline from the running job; the user can still stop it."""
        with self._changed:
            if timer := self._timers.pop(work, None):
                timer.cancel()


class Pages:
    """The running jobs of every open page, by the id of its session.

    A page may have one preview or live answer, one job that reads an uploaded clip, and one other
    job, such as an answer or a comparison. The work of a session is this last job.
    """

    def __init__(self, queue: ModelQueue) -> None:
        self._queue = queue
        self._lock = threading.Lock()
        self._working: dict[str, Work] = {}
        self._previews: dict[str, Work] = {}
        self._uploads: dict[str, Work] = {}
        # newest preview or live answer of each session: (version of the settings, is live answer)
        self._newest: LRUCache[str, tuple[int, bool]] = LRUCache(SESSIONS)

    def start(self, session: str) -> bool:
        """Register new work of this session; return False if it already has running work."""
        with self._lock:
            if session in self._working:
                return False
            self._working[session] = Work()
            return True

    def renew(self, session: str, work: Work) -> Work:
        """Replace ``work`` by a new job and return it; after :meth:`stop`, return ``work``."""
        with self._lock:
            if self._working.get(session) is work:
                work = self._working[session] = Work()
        return work

    def begin_preview(
        self, session: str | None, version: int = 0, live: bool = False
    ) -> Work | None:
        """Start a preview or ``live`` answer of this session; return its job, or None.

        Ends the previous one without a message. Every version of a page's settings has a preview,
        then a live answer. Returns None if the same job, or a later one in this order, was started
        before, unless ``version`` is 0 (unknown). Also returns None for a live answer while a
        preview runs, as another live answer follows that preview. Without a session, the job
        belongs to no page and ends no other.
        """
        work = Work(live)
        if session is None:
            return work
        with self._lock:
            before, order = self._previews.get(session), (version, live)
            newest = self._newest.get(session, (0, False))
            if version and order <= newest:
                return None
            if live and before is not None and not before.live:
                return None
            self._newest[session] = max(newest, order)
            self._previews[session] = work
        if before is not None:
            before.end("")
        return work

    def end_preview(self, session: str, version: int = 0) -> None:
        """End the running preview of this session without a message.

        Afterwards no preview of ``version`` or of an older version can start.
        """
        with self._lock:
            newest = self._newest.get(session, (0, False))
            self._newest[session] = max(newest, (version, False))
            before = self._previews.pop(session, None)
        if before is not None:
            before.end("")

    def end_older_preview(self, session: str, version: int) -> None:
        """End the preview of this session without a message if it is older than ``version``."""
        with self._lock:
            if version and self._newest.get(session, (0, False)) >= (version, False):
                return
            before = self._previews.pop(session, None)
        if before is not None:
            before.end("")

    def begin_upload(self, session: str) -> Work:
        """Start the job that reads an uploaded clip; ends the previous one without a message."""
        self.end_upload(session)
        with self._lock:
            work = self._uploads[session] = Work()
        return work

    def end_upload(self, session: str) -> None:
        """End the job that reads an uploaded clip, as the session has chosen another clip."""
        with self._lock:
            before = self._uploads.pop(session, None)
        if before is not None:
            before.end("")

    def is_reading(self, session: str) -> bool:
        """Whether a clip uploaded by this session is still being read."""
        return session in self._uploads

    def busy(self, session: str | None) -> bool:
        """Whether this session has work that is running and was not stopped."""
        return session in self._working

    def work(self, session: str) -> Work:
        """Return the running job of this session; if there is none, a new job that is ended."""
        gone = Work()
        gone.end()
        return self._working.get(session, gone)

    def stop(self, session: str) -> list[Work]:
        """Stop and return all jobs of this session; the model stops after its current layer."""
        with self._lock:
            kinds = (self._working, self._previews, self._uploads)
            entered = [of.pop(session, None) for of in kinds]
        works = [work for work in entered if work is not None]
        for work in works:
            work.end()
        return works

    def leave(self, session: str | None, work: Work) -> None:
        """End ``work`` and take it out of the model queue; other jobs continue."""
        work.end()
        self._queue.leave(work)
        with self._lock:
            for held in (self._working, self._previews, self._uploads):
                if session is not None and held.get(session) is work:
                    del held[session]
        work.over.set()
