"""Run small computations on a single CPU thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import torch

_SMALL = 5e9  # floating-point operations: a fraction of a second on one core


@contextmanager
def one_thread_if_small(operations: float, device: torch.device) -> Iterator[None]:
    """Limit torch to the calling thread while the block runs, if it has few ``operations``.

    Small work consists of many short steps, after each of which threads wait for each other. That
    takes longer than the steps, and much longer if other processes are busy: one interrupted thread
    keeps all others waiting. ``operations``: floating-point operations of the block.
    """
    before = torch.get_num_threads()
    if device.type != "cpu" or operations > _SMALL or before == 1:
        yield
        return
    torch.set_num_threads(1)  # also sets the default of later threads, restored below
    try:
        _for_later_threads(before)
        yield
    finally:
        torch.set_num_threads(before)


def _for_later_threads(count: int) -> None:
    """Restore the number of torch threads for Python threads that are started later.

    ``torch.set_num_threads`` also changes this default, whichever thread calls it.
    """
    caller = Thread(target=torch.set_num_threads, args=(count,))
    caller.start()
    caller.join()
