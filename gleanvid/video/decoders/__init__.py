"""The decoders: one module for each library, imported when it is used. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from gleanvid.video.plan import Events, Request, UnreadableVideoError

BACKENDS = {  # backend -> module that decodes with it, and the PyPI package it needs
    "pyav": ("gleanvid.video.decoders.pyav", "av"),
    "torchcodec": ("gleanvid.video.decoders.torchcodec", "torchcodec"),
    "decord": ("gleanvid.video.decoders.decord", "decord"),
    "opencv": ("gleanvid.video.decoders.opencv", "opencv-python-headless"),
}
# Modules that PyAV imports when a file has subtitles.
LATE = {"pyav": ("av.subtitles.codeccontext", "av.subtitles.stream")}


def load(backend: str) -> ModuleType:
    """Import the module of a backend, and every module that it would import later.

    The decoding process gives up the right to open other files before it opens the video. So it
    cannot import anything later.
    """
    for name in ("numpy.ma", *LATE.get(backend, ())):
        import_module(name)
    return import_module(BACKENDS[backend][0])


def decode(request: Request) -> Events:
    """Yield a plan of the frames to read, then these frames, decoded in this process."""
    with explained(request):
        yield from load(request.backend).read(request)


@contextmanager
def explained(request: Request) -> Iterator[None]:
    """Turn a missing package, or too little memory, into an error for the user."""
    try:
        yield
    except ImportError as error:
        package = BACKENDS[request.backend][1]
        raise UnreadableVideoError(
            f"Reading videos with backend={request.backend!r} needs the package {package!r} "
            f"({error}). Install it with: pip install {package}"
        ) from error
    except MemoryError as error:
        raise UnreadableVideoError(
            f"{request.name} needs more memory than the reader may use."
        ) from error
