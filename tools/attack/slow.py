"""Attempts that take long: clients that send nothing, and many at once."""

from __future__ import annotations

import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from tests.server.target import G, Listed, Target

ADDRESSES, PREVIEWS = 14, 3  # and how many of each at once


def everything() -> Listed:
    begun = {
        "half a head": b"GET / HTTP/1.1\r\nhost: loc",
        "nothing": b"",
        "half a body": f"POST {G}/upload HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9999\r\n"
        "content-type: multipart/form-data; boundary=x\r\n\r\n--x".encode(),
    }

    def attempt(target: Target) -> bool:
        lines = [target.line(text) for text in begun.values() for _ in range(20)]
        try:
            start = time.monotonic()
            healthy = httpx.get(f"{target.url}/healthz").status_code == 200
            prompt = time.monotonic() - start < 1.0
            return healthy and prompt and all(_ended(line, start + 30) for line in lines)
        finally:
            for line in lines:
                line.close()

    yield "slow clients", "60 that send no more", attempt

    def crowd(target: Target) -> bool:
        lines = [target.line(b"") for _ in range(160)]
        refused = any(_ended(line, time.monotonic() + 0.2, b"H") for line in lines[-20:])
        for line in lines:
            line.close()
        time.sleep(0.5)
        return refused and httpx.get(f"{target.url}/healthz").status_code == 200

    yield "slow clients", "160 connections of one visitor", crowd
    yield "previews", "42 by 14 addresses", previews


def previews(target: Target) -> bool:
    """Whether monitors and other pages are answered in time meanwhile."""
    path = target.upload("clip.mp4", target.clip).json()[0]
    body = target.event("gv-refresh", "click", {})
    predict(target.url, 0, body)  # the first one imports what it needs
    begun = time.monotonic()
    with ThreadPoolExecutor(ADDRESSES * PREVIEWS) as threads:
        sent = [
            threads.submit(predict, target.url, number, body | {"session_hash": f"crowd{number}"})
            for number in range(ADDRESSES * PREVIEWS)
        ]
        took = dict.fromkeys(("/healthz", f"{G}/file={path}"), 0.0)
        while not all(reply.done() for reply in sent):
            for route in took:
                start = time.monotonic()
                target.client.get(route)
                took[route] = max(took[route], time.monotonic() - start)
    health, file = took.values()
    longer = max(1.0, (time.monotonic() - begun) / 8)  # on a busy machine all takes longer
    return (
        health < 2.0 * longer
        and file < 5.0 * longer
        and {reply.result() for reply in sent} <= {200, 429}
    )


def predict(url: str, number: int, body: Any) -> int:
    """The status of what Gradio answers outside its queue, asked from one of many addresses."""
    here = f"127.0.0.{2 + number % ADDRESSES}" if sys.platform == "linux" else None
    own = httpx.HTTPTransport(local_address=here, verify=False)
    with httpx.Client(transport=own, timeout=120, trust_env=False) as client:
        return client.post(f"{url}{G}/run/predict", json=body).status_code


def _ended(line: socket.socket, end: float, last: bytes = b"") -> bool:
    line.settimeout(max(0.01, end - time.monotonic()))
    try:
        return line.recv(1) in (b"", last, b"H")
    except ConnectionError:
        return True
    except TimeoutError:
        return False
