"""Gives freed memory back to the system.

The C library of Linux keeps what threads have freed for later; over hundreds of asks that adds up
to tens of megabytes that nothing in Python holds (``python -m tests.server.soak``).
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from contextlib import suppress


def _trimmer() -> Callable[[int], int] | None:
    """``malloc_trim`` of glibc; None where the C library has none."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
            return trim
    return None


_TRIM = _trimmer()


def give_back() -> None:
    """Takes tens of milliseconds, during which other threads run on."""
    if _TRIM is not None:
        _TRIM(0)
