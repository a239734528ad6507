"""Turns a call with an ``on_text`` callback into an iterator over the pieces and the result."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator

from gleanvid.run import Run


def followed(work: Callable[..., Run], stop: threading.Event | None) -> Iterator[str | Run]:
    """The growing text that ``work(on_text=, stop=)`` reports from a thread, its result last.

    Closing the iterator sets ``stop`` and waits until the work is over. Raises what ``work``
    raises.
    """
    stop = stop or threading.Event()
    pieces: queue.SimpleQueue[str | Run | Exception] = queue.SimpleQueue()

    def run() -> None:
        try:
            pieces.put(work(on_text=pieces.put, stop=stop))
        except Exception as error:
            pieces.put(error)

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    text, over = "", False
    try:
        while isinstance(piece := pieces.get(), str):
            text += piece
            yield text
        over = True
        if isinstance(piece, Exception):
            raise piece
        yield piece
    finally:
        if not over:
            stop.set()
        worker.join()
