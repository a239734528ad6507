"""How much of a checkpoint's weights is loaded, as transformers counts them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from transformers.utils import logging

from gleanvid.errors import StoppedError


@contextmanager
def weights_counted(on_share: Callable[[float], None], stop: threading.Event) -> Iterator[None]:
    """Within the block, ``on_share`` gets the share of weights loaded, from 0 to 1.

    Loading raises ``StoppedError`` at the next weight once ``stop`` is set. One block at a time:
    transformers has one place for this in a process.
    """
    thread = threading.get_ident()

    def counted(make: Callable[..., Any], args: tuple[Any, ...], how: dict[str, Any]) -> Any:
        mine = threading.get_ident() == thread and how.get("desc") == "Loading weights"
        return _Counted(args[0], on_share, stop) if mine else make(*args, **how)

    before = logging.set_tqdm_hook(counted)
    try:
        yield
    finally:
        logging.set_tqdm_hook(before)


class _Counted:
    """What stands in for a progress bar."""

    def __init__(
        self, items: Any, on_share: Callable[[float], None], stop: threading.Event
    ) -> None:
        self._items, self._on_share, self._stop = list(items), on_share, stop

    def __iter__(self) -> Iterator[Any]:
        for number, item in enumerate(self._items, 1):
            if self._stop.is_set():
                raise StoppedError
            yield item
            self._on_share(number / len(self._items))
