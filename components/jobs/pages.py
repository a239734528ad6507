"""The running jobs of every open page."""

from __future__ import annotations

import threading

from cachetools import LRUCache

from .queue import ModelQueue, Work

SESSIONS = 2_000  # maximum number of pages whose newest preview is remembered
# kinds of jobs: an answer, comparison or search; a preview or live answer; reading an upload
WORK, PREVIEW, UPLOAD = "work", "preview", "upload"


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
