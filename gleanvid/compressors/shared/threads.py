"""Run small computations on a single CPU thread."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

Result = TypeVar("Result")

# largest number of floating-point operations of a small computation: under a second on one core
_SMALL = 5e9
_lock = threading.Lock()
_worker: list[ThreadPoolExecutor] = []  # empty, or one executor with one thread
_here = threading.local()  # ``is_worker`` is set in the executor's thread


def on_one_thread(work: Callable[[], Result], operations: float, device: torch.device) -> Result:
    """Return ``work()``, computed on a single CPU thread if it is small and on a CPU.

    Several threads wait for each other after each short step, which takes longer than the step.
    The work runs in a Python thread whose number of PyTorch threads is set once: setting it also
    sets that of threads started later.

    Args:
        work: the computation.
        operations: its number of floating-point operations.
        device: where it computes.
    """
    if device.type != "cpu" or operations > _SMALL or torch.get_num_threads() == 1:
        return work()
    if getattr(_here, "is_worker", False):
        return work()
    with _lock:
        if not _worker:
            _worker.append(ThreadPoolExecutor(1, "one-thread", _use_one_thread))
    return _worker[0].submit(work).result()


def _use_one_thread() -> None:
    _here.is_worker = True
    others = torch.get_num_threads()
    torch.set_num_threads(1)
    restoring = threading.Thread(target=torch.set_num_threads, args=(others,))
    restoring.start()
    restoring.join()


if hasattr(os, "register_at_fork"):  # a forked process has no thread but its own
    os.register_at_fork(after_in_child=_worker.clear)
