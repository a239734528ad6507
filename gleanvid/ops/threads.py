"""Run small computations on a single CPU thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import torch

_SMALL = 5e9  # multiplications and additions: a fraction of a second of one core


@contextmanager
def one_thread_if_small(operations: float, device: torch.device) -> Iterator[None]:
    """Limit torch to the calling thread if the work is little, by its floating-point operations.

    Such work is many short steps, and threads wait for each other after every one of them. That
    takes longer than the steps, and much longer next to other busy processes: one interrupted
    thread keeps all others waiting.
    """
    before = torch.get_num_threads()
    if device.type != "cpu" or operations > _SMALL or before == 1:
        yield
        return
    torch.set_num_threads(1)  # also affects threads started from now on
    try:
        _for_later_threads(before)
        yield
    finally:
        torch.set_num_threads(before)


def _for_later_threads(count: int) -> None:
    """Restore the default of new threads.

    ``torch.set_num_threads`` sets it for threads started later, whichever thread called it.
    """
    caller = Thread(target=torch.set_num_threads, args=(count,))
    caller.start()
    caller.join()
