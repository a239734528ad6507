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
PICTURES = ("gleanvid.video.decoders.pictures", "pillow")  # whatever the backend


def _decoder(request: Request) -> tuple[str, str]:
    return PICTURES if request.container == "picture" else BACKENDS[request.backend]


def load(request: Request) -> ModuleType:
    """Import the module that decodes a file, and every module that it would import later.

    The decoding process gives up the right to open other files before it opens the video. So it
    cannot import anything later.
    """
    import_module("numpy.ma")
    return import_module(_decoder(request)[0])


def decode(request: Request) -> Events:
    """Yield a plan, then its frames, decoded here. Raises ``UnreadableVideoError``."""
    with explained(request):
        yield from load(request).read(request)


@contextmanager
def explained(request: Request) -> Iterator[None]:
    """Turn a missing package, or too little memory, into an ``UnreadableVideoError``."""
    try:
        yield
    except ImportError as error:
        package = _decoder(request)[1]
        raise UnreadableVideoError(
            f"Reading {request.name} needs the package {package!r} ({error}). "
            f"Install it with: pip install {package}"
        ) from error
    except MemoryError as error:
        raise UnreadableVideoError(
            f"{request.name} needs more memory than the reader may use."
        ) from error
