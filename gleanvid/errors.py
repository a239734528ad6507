"""Exceptions with messages for people, and conversion of other exceptions to messages."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# What parsing JSON, arrays and numbers from untrusted input can raise: RuntimeError for
# too deep nesting (RecursionError), ArithmeticError for numbers of 400 digits.
MALFORMED = (
    *(ValueError, TypeError, LookupError, AttributeError),
    *(RuntimeError, ArithmeticError, MemoryError),
)
OUT_OF_MEMORY = (
    "The model ran out of memory. Use fewer frames or a lower retention ratio, then try again."
)
DISK_FULL = "The disk is full. Retry when it has room."

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@contextmanager
def refusing(
    kind: Callable[[str], Exception], text: str, *others: type[Exception], because: bool = False
) -> Iterator[None]:
    """Convert exceptions that malformed input raises within the block to the error ``kind``.

    Args:
        kind: the error to raise. ``VideoError`` and ``ModelError`` pass unchanged.
        text: the message of the error.
        others: errors that the input can raise besides ``MALFORMED``.
        because: whether to append the original error, which can reveal paths of this machine.

    >>> with refusing(ValueError, "a.json is no list of clips", because=True):
    ...     [1, 2][7]
    Traceback (most recent call last):
    ValueError: a.json is no list of clips: IndexError: list index out of range
    """
    failures: tuple[type[Exception], ...] = (*MALFORMED, *others)
    try:
        yield
    except (VideoError, ModelError):
        raise
    except failures as error:
        is_said = type(error) is ValueError and str(error)
        reason = str(error) if is_said else f"{type(error).__name__}: {error}"
        reason = f"{error} is missing" if isinstance(error, KeyError) else reason
        raise kind(f"{text}: {reason}" if because else text) from error


def sentence(error: BaseException) -> str:
    """Return the message of an error for the user; "" for an error that is a bug.

    >>> sentence(ValueError("frames=0 must be in [1, 64]")), sentence(KeyError("frames"))
    ('frames=0 must be in [1, 64]', '')
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return OUT_OF_MEMORY
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DISK_FULL
    kinds = ValueError | ModelError | BusyError | StoppedError
    return str(error) if isinstance(error, kinds) else ""


def printable(text: str, keep: str = "") -> str:
    r"""Return the text with control characters and bytes that are no UTF-8 written as escapes.

    File names and answers of servers may hold sequences that move a terminal's cursor or forge
    lines. Characters in ``keep`` pass as they are.

    >>> printable("a\x1b[2J.mp4")
    'a\\x1b[2J.mp4'
    """
    return "".join(
        one if one.isprintable() or one in keep else one.encode("unicode_escape").decode()
        for one in text
    )


def plain(text: str) -> str:
    r"""Return the text without control characters and those that change the direction of text.

    Tabs and line feeds stay. Names that strangers chose could otherwise show as other names.

    >>> plain("clip\u202e4pm.mp4\x1b[2J")
    'clip4pm.mp4[2J'
    """
    return _CONTROLS.sub("", text)


def closed_pipe() -> int:
    """Discard further output after its reader ended, as in ``| head -1``; return an exit status.

    Otherwise Python would print an error on exit, because it cannot write its buffer.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + 13  # the status shells report for a program ended by SIGPIPE


class VideoError(ValueError):
    """Raised for a video that cannot be used; the message is for the person who chose it.

    >>> try:
    ...     read_video("nowhere.mp4")
    ... except VideoError as error:
    ...     print(error)
    There is no file called nowhere.mp4.
    """


class ModelError(RuntimeError):
    """Raised for a model that cannot be loaded or run; the message says what to do about it.

    >>> try:
    ...     load_model("builtin", quantization="2bit")
    ... except ModelError as error:
    ...     print(error)
    quantization='2bit' must be one of 8bit, 4bit or None
    """


class BusyError(RuntimeError):
    """Raised if too many requests are waiting already; the message says so."""


class StoppedError(Exception):
    """Raised if work was stopped before it had a result."""
