"""Run small computations on a single CPU thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import torch

# largest number of floating-point operations of a small block: under a second on one core
_SMALL = 5e9


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
    torch.set_num_threads(1)  # also limits Python threads started later; undone below
    try:
        _for_later_threads(before)
        yield
    finally:
        torch.set_num_threads(before)


def _for_later_threads(count: int) -> None:
    """Set the number of torch threads for Python threads that will be started later.

    ``torch.set_num_threads`` sets the number for the thread that calls it, and also for later ones.
    So another thread calls it here, and the current thread's own number stays unchanged.
    """
    caller = Thread(target=torch.set_num_threads, args=(count,))
    caller.start()
    caller.join()
