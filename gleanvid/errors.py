"""Errors whose message is written for people. Imports nothing, so any module can use it."""

# What reading JSON, arrays and numbers of strangers can raise: to be turned into a sentence where
# they are read. RuntimeError includes RecursionError, ArithmeticError numbers of 400 digits.
MALFORMED = (
    *(ValueError, TypeError, LookupError, AttributeError),
    *(RuntimeError, ArithmeticError, MemoryError),
)


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


class StoppedError(Exception):
    """Work that was stopped before it had a result."""
