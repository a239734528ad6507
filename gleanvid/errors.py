"""Errors whose message is written for people. Imports nothing, so any module can use it."""


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
