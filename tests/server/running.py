"""Run the real app on a free port of this machine, by default with a fake model."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from components.panels.page import build_app
from components.server import serving
from components.session.choice.choosing import Choosing
from components.session.examples import Example
from components.session.work.engine import Engine
from components.session.work.queue import ModelQueue
from tests.components.fake import FakeBackend


@contextmanager
def running(
    limits: serving.Limits = serving.LOCAL,
    engine: Engine | None = None,
    host: str = "127.0.0.1",
    choosing: Choosing | None = None,
    examples: Sequence[Example] = (),
    **options: Any,
) -> Iterator[str]:
    """Start the app and yield its address.

    ``choosing``: the model menu, made with the same ``engine``.
    """
    engine = engine or Engine(FakeBackend(), queue=ModelQueue(limits.deadline_s, limits.places))
    page = build_app(engine, limits=limits, choosing=choosing, examples=examples)
    launch = serving.options(host, None, False, limits, **options)
    serving.start(page, launch | {"quiet": True}, limits)
    try:
        yield str(page.local_url).rstrip("/")
    finally:
        page.close()


def wait_until(holds: Callable[[], Any], seconds: float = 20.0) -> Any:
    """Call ``holds`` until it returns something true, for ``seconds`` at most; return the last."""
    end = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def alive(name: bytes) -> list[int]:
    """Return the ids of this process's children whose command line contains ``name``."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            ours = folder.joinpath("stat").read_text().split(") ")[1].split()[1] == str(os.getpid())
            if ours and name in folder.joinpath("cmdline").read_bytes():
                found.append(int(folder.name))
        except (OSError, IndexError):
            continue
    return found
