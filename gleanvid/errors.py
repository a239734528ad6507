"""Exceptions with messages for people, and conversion of other exceptions to messages."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# What parsing JSON, arrays and numbers from untrusted input can raise. RuntimeError includes
# RecursionError, ArithmeticError numbers of 400 digits.
MALFORMED = (
    *(ValueError, TypeError, LookupError, AttributeError),
    *(RuntimeError, ArithmeticError, MemoryError),
)
OUT_OF_MEMORY = (
    "The model ran out of memory. Use fewer frames or a lower retention ratio, then try again."
)
DISK_FULL = "The disk is full. Try again later."


@contextmanager
def refusing(
    kind: Callable[[str], Exception], text: str, *others: type[Exception], because: bool = False
) -> Iterator[None]:
    """Convert exceptions from malformed input within the block to ``kind``, with a sentence.

    Args:
        kind: the error to raise. ``VideoError`` and ``ModelError`` pass: they have sentences.
        text: the sentence.
        others: errors that the input can raise besides ``MALFORMED``.
        because: whether the sentence ends with what was wrong; not for answers to strangers.

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
        raise kind(f"{text}: {reason}" if because else text) from error


def sentence(error: BaseException) -> str:
    """Return the message of an error for the person; empty if it is a bug.

    >>> sentence(ValueError("frames=0 must be in [1, 64]")), sentence(KeyError("frames"))
    ('frames=0 must be in [1, 64]', '')
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":  # of torch
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


class VideoError(ValueError):
    """A video that cannot be used; the message is a sentence for the person who chose the file.

    >>> try:
    ...     read_video("nowhere.mp4")
    ... except VideoError as error:
    ...     print(error)
    There is no file called nowhere.mp4.
    """


class ModelError(RuntimeError):
    """A model that cannot be loaded or run; the message says what to do about it.

    >>> try:
    ...     load_model("builtin", quantization="2bit")
    ... except ModelError as error:
    ...     print(error)
    quantization='2bit' must be one of 8bit, 4bit or None
    """


class UnreachableError(ModelError):
    """A model that is not on this machine while the hub cannot be asked for it."""


class BusyError(RuntimeError):
    """Too many wait already; the message says so."""


class StoppedError(Exception):
    """Work that was stopped before it had a result."""
