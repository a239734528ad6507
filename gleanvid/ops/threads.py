"""Run small computations on a single CPU thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import torch

_SMALL = 5e9  # largest number of floating-point operations: under a second on one core


@contextmanager
def one_thread_if_small(operations: float, device: torch.device) -> Iterator[None]:
    """Limit torch to one CPU thread in a ``with`` block, if the block is small and on a CPU.

    ``operations``: number of floating-point operations of the block. A small block consists of many
    short steps. After each, the threads wait for each other, which takes longer than the step, and
    much longer if another process interrupts one of them.
    """
    before = torch.get_num_threads()
    if device.type != "cpu" or operations > _SMALL or before == 1:
        yield
        return
    torch.set_num_threads(1)  # also limits threads started later; undone below
    try:
        _for_later_threads(before)
        yield
    finally:
        torch.set_num_threads(before)


def _for_later_threads(count: int) -> None:
    """Set how many torch threads a Python thread uses that is started later.

    ``torch.set_num_threads`` sets this default, too. So it is called in another thread here, which
    leaves the calling thread's own number unchanged.
    """
    caller = Thread(target=torch.set_num_threads, args=(count,))
    caller.start()
    caller.join()
