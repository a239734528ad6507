"""Run the real app on a free port of this machine, by default with a fake model, and call it."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx

from components.jobs.engine import Engine
from components.jobs.examples import Example
from components.jobs.queue import ModelQueue
from components.models.choosing import Choosing
from components.page.page import build_app
from components.server import serving
from components.server.allowed import GRADIO
from tests.components.fake import FakeBackend

ARGUMENTS = {  # arguments of /ask after the clip, in order
    "question": "What?", "compressor": "gleanvid", "ratio": 0.25, "model": "", "frames": 8,
    "settings": None, "seed": 0, "temperature": 0.0, "length": 8, "top_p": 1.0, "pixels": 0,
}  # fmt: skip


@contextmanager
def running(
    limits: serving.Limits = serving.LOCAL,
    engine: Engine | None = None,
    host: str = "127.0.0.1",
    choosing: Choosing | None = None,
    examples: Sequence[Example] = (),
    proxies: Sequence[str] = (),
    **options: Any,
) -> Iterator[str]:
    """Start the app and yield its address.

    ``choosing``: the model menu, made with the same ``engine``.
    """
    engine = engine or Engine(FakeBackend(), queue=ModelQueue(limits.deadline_s, limits.places))
    page = build_app(engine, limits=limits, choosing=choosing, examples=examples)
    launch = serving.options(host, None, False, limits, **options)
    serving.start(page, launch | {"quiet": True}, limits, proxies)
    try:
        yield str(page.local_url).rstrip("/")
    finally:
        page.close()


def upload(url: str, *contents: bytes) -> httpx.Response:
    files = [("files", (f"{len(content)}.mp4", content)) for content in contents]
    return httpx.post(f"{url}{GRADIO}/upload", files=files, timeout=60)


def file(path: str) -> Any:
    """Return Gradio's file data for a path, as pages and clients send it."""
    return {"path": path, "meta": {"_type": "gradio.FileData"}}


def ask(url: str, path: str, **changes: Any) -> httpx.Response:
    """Call the endpoint ``ask`` about an uploaded clip; its answer is to be fetched."""
    data = {"data": [file(path), *(ARGUMENTS | changes).values()]}
    return httpx.post(f"{url}{GRADIO}/call/ask", json=data, timeout=60)


def answered(url: str, asked: httpx.Response) -> str:
    """Return the stream of events that answers a call of ``ask``."""
    return httpx.get(f"{url}{GRADIO}/call/ask/{asked.json()['event_id']}", timeout=60).text


def join(url: str, name: str, data: Sequence[Any], session: str) -> httpx.Response:
    """Queue an event of an endpoint as a page does, under a session's name."""
    events = httpx.get(f"{url}/config", timeout=60).json()["dependencies"]
    number = next(event["id"] for event in events if event["api_name"] == name)
    call = {"data": data, "fn_index": number, "session_hash": session}
    return httpx.post(f"{url}{GRADIO}/queue/join", json=call, timeout=60)


def wait_until(holds: Callable[[], Any], seconds: float = 20.0) -> Any:
    """Call ``holds`` until it returns something true, for ``seconds`` at most; return the last."""
    end = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.05)
    return found
