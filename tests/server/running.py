"""The real app on a free port of this machine, with a stand-in for the model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from components.panels.page import build_app
from components.server import serving
from components.session.engine import Engine
from components.session.line import Line
from tests.components.fake import Library


@contextmanager
def running(
    limits: serving.Limits = serving.LOCAL, library: Any = None, **options: Any
) -> Iterator[str]:
    """The address of the app while it runs."""
    engine = Engine(library or Library(), line=Line(limits.deadline_s, limits.places))
    page = build_app(engine, limits=limits)
    launch = serving.options("127.0.0.1", None, False, limits, **options)
    serving.start(page.queue(max_size=limits.queue), launch | {"quiet": True})
    try:
        yield str(page.local_url).rstrip("/")
    finally:
        page.close()
