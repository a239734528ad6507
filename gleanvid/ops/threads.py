"""How many threads small work runs on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import torch

_SMALL = 5e9  # multiplications and additions: a fraction of a second of one core


@contextmanager
def one_thread_if_small(operations: float, device: torch.device) -> Iterator[None]:
    """Little work on the CPU, by its floating-point operations, runs in the calling thread alone.

    Such work is many short steps. Several threads meet after each of them, which takes longer than
    the steps, and beside other busy processes much longer still: whoever is interrupted keeps all
    others waiting.
    """
    before = torch.get_num_threads()
    if device.type != "cpu" or operations > _SMALL or before == 1:
        yield
        return
    torch.set_num_threads(1)  # of this thread, and of threads that are started from now on
    try:
        _for_later_threads(before)
        yield
    finally:
        torch.set_num_threads(before)


def _for_later_threads(count: int) -> None:
    """What the last caller in any thread set is where a new thread begins."""
    caller = Thread(target=torch.set_num_threads, args=(count,))
    caller.start()
    caller.join()
