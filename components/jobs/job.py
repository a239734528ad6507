"""A job of a page: it reads a clip, waits for the model, and always ends with a message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import InitVar, dataclass, field
from typing import TypeVar

from gleanvid.models.encoded import ClipKey
from gleanvid.types import StoppedError, Video

from .backend import EncodedClip, Sampled
from .display import Message, PageUpdate, count_of, explain, message, status
from .engine import Engine
from .queue import Work
from .request import Request

READ_S = 0.3  # seconds between two updates of the number of decoded frames
READING = "Reading the clip…"
READ = "Reading the clip: frame {done:,} of {total:,}."
STILL_LOADING = "The model is still being loaded."

Update = TypeVar("Update")


@dataclass(eq=False)
class Job:
    """A job of the page ``session`` with the model of ``request``.

    ``work``: its stop flag and place in the queue, by default that of the page's running work. A
    job of several steps gets a new one for each step, so that each has the full deadline and other
    visitors get the model in between.
    """

    engine: Engine
    session: str | None
    request: Request
    begun: InitVar[Work | None] = field(default=None, kw_only=True)
    work: Work = field(init=False)

    def __post_init__(self, begun: Work | None) -> None:
        running = self.engine.pages.work(self.session) if self.session else Work()
        self.work = begun or running

    def run(
        self,
        updates: Iterator[Update],
        last: Callable[[Message], Update],
        by_hand: str = Work.BY_HAND,
    ) -> Iterator[Update]:
        """Yield ``updates``; free the model at the end, whatever happens.

        ``last`` makes the last update of a job that failed or was stopped, from its message. A job
        that was stopped without a reason ends without a message. ``by_hand``: message if the user
        stopped it.
        """
        try:
            yield from updates
        except StoppedError:
            if why := self.work.why:
                yield last(message(by_hand if why == Work.BY_HAND else why))
        except Exception as error:
            yield last(message(explain(error), "problem"))
        finally:
            self.engine.pages.leave(self.session, self.work)

    def progress(self, text: str) -> Message:
        """Return ``text`` as a progress message, with a note if the model is still being loaded."""
        is_loaded = self.engine.holds(self.request.model)
        return message(text if is_loaded else f"{text} {STILL_LOADING}")

    def reading(self) -> Iterator[Message]:
        """Read the clip into memory; yield a message whenever more of its frames are decoded.

        Afterwards ``Engine.clip`` returns the clip at once. Raises the errors of ``Engine.clip``.
        """
        yield self.progress(READING)
        path, frames = str(self.request.path), self.request.sampled
        for text in read(self.engine, path, frames, self.work):
            yield self.progress(text)

    def waiting(self) -> Iterator[PageUpdate]:
        """Wait for the model; yield messages on how many requests come first."""
        for ahead in self.engine.queue.wait(self.work):
            others = "1 request comes" if ahead == 1 else f"{ahead} requests come"
            text = f"Waiting for the model: {others} before this one."
            yield PageUpdate(message(text), status=status(self.engine))

    def renew(self) -> None:
        """Leave the model queue and begin a new step, which has to wait again."""
        self.engine.queue.leave(self.work)
        if self.session is not None:
            self.work = self.engine.pages.renew(self.session, self.work)

    def encoding(self, video: Video) -> PageUpdate:
        notice = self.progress(f"Encoding {count_of(len(video), 'frame')}…")
        return PageUpdate(notice, status=status(self.engine))

    def encode(self, clip: ClipKey) -> EncodedClip:
        return self.engine.encode(clip, self.work)


def read(engine: Engine, path: str, frames: int | Sampled, work: Work) -> Iterator[str]:
    """Read a clip into memory; yield a sentence whenever more of its frames are decoded."""
    known = work.decoded
    with ThreadPoolExecutor(1) as pool:
        clip = pool.submit(engine.clip, path, frames, work)
        try:
            while not wait([clip], READ_S).done:
                if work.decoded != known:
                    known = work.decoded
                    yield READ.format(done=known[0], total=known[1])
        except GeneratorExit:
            # The page was closed. End the decoding, because leaving ``with`` waits for it.
            work.end()
            raise
    clip.result()
