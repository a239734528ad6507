"""Attempts that take long: clients that send nothing, and many at once."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import httpx

from tools.attack.client import G, Target
from tools.attack.requests import Attempt

ADDRESSES, PREVIEWS = 14, 3  # and how many of each at once
BEGUN = (
    b"GET / HTTP/1.1\r\nhost: loc",
    b"",
    b"POST /gradio_api/upload HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9999\r\n"
    b"content-type: multipart/form-data; boundary=x\r\n\r\n--x",
)


def everything() -> Iterator[Attempt]:
    yield "slow clients", "60 that send no more", silent
    yield "slow clients", "160 connections of one visitor", crowd
    yield "previews", "42 by 14 addresses", previews


def silent(target: Target) -> bool:
    with ExitStack() as stack:
        opened = [stack.enter_context(target.connect(begun)) for begun in BEGUN * 20]
        start = time.monotonic()
        healthy = target.send("GET", "/healthz").status_code == 200
        prompt = time.monotonic() - start < 1.0
        return healthy and prompt and all(_ended(line, start + 30) for line in opened)


def crowd(target: Target) -> bool:
    with ExitStack() as stack:
        opened = [stack.enter_context(target.connect(b"")) for _ in range(160)]
        refused = any(_ended(line, time.monotonic() + 0.2) for line in opened[-20:])
    time.sleep(0.5)
    return refused and target.send("GET", "/healthz").status_code == 200


def previews(target: Target) -> bool:
    """Whether monitors and other pages are answered in time meanwhile."""
    body = target.event("gv-preview", "click", {})
    predict(target.url, 0, body)  # the first one imports what it needs
    begun, count = time.monotonic(), ADDRESSES * PREVIEWS
    took = dict.fromkeys(("/healthz", f"{G}/file={target.clip}"), 0.0)
    with ThreadPoolExecutor(count) as threads:
        sent = [
            threads.submit(predict, target.url, number, body | {"session_hash": f"crowd{number}"})
            for number in range(count)
        ]
        while not all(reply.done() for reply in sent):
            for route in took:
                start = time.monotonic()
                target.client.get(route)
                took[route] = max(took[route], time.monotonic() - start)
    health, file = took.values()
    longer = max(1.0, (time.monotonic() - begun) / 8)  # on a busy machine all takes longer
    told = {reply.result() for reply in sent}
    return health < 2.0 * longer and file < 5.0 * longer and told <= {200, 429}


def predict(url: str, number: int, body: Any) -> int:
    """The status of what Gradio answers outside its queue, asked from one of many addresses."""
    here = f"127.0.0.{2 + number % ADDRESSES}" if sys.platform == "linux" else None
    own = httpx.HTTPTransport(local_address=here, verify=False)
    with httpx.Client(transport=own, timeout=120, trust_env=False) as client:
        return client.post(f"{url}{G}/run/predict", json=body).status_code


def _ended(line: socket.socket, end: float) -> bool:
    """Whether the server has closed or refused this connection by then."""
    line.settimeout(max(0.01, end - time.monotonic()))
    try:
        return line.recv(1) in (b"", b"H")
    except ConnectionError:
        return True
    except TimeoutError:
        return False
