"""Progress of loading weights, as transformers reports it, and a way to stop it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from transformers.utils import logging

from gleanvid.errors import StoppedError


@contextmanager
def weight_progress(report: Callable[[float], None], stop: threading.Event) -> Iterator[None]:
    """While the block loads weights, call ``report`` with the fraction loaded so far.

    Once ``stop`` is set, loading raises ``StoppedError`` at the next weight. Do not nest such
    blocks: transformers has one progress hook per process.
    """
    thread = threading.get_ident()

    def make_bar(make: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        is_ours = threading.get_ident() == thread and options.get("desc") == "Loading weights"
        return _Bar(args[0], report, stop) if is_ours else make(*args, **options)

    previous = logging.set_tqdm_hook(make_bar)
    try:
        yield
    finally:
        logging.set_tqdm_hook(previous)


class _Bar:
    """Takes the place of the progress bar in transformers; passes the fraction to ``report``."""

    def __init__(self, items: Any, report: Callable[[float], None], stop: threading.Event) -> None:
        self._items, self._report, self._stop = list(items), report, stop

    def __iter__(self) -> Iterator[Any]:
        for number, item in enumerate(self._items, 1):
            if self._stop.is_set():
                raise StoppedError
            yield item
            self._report(number / len(self._items))
