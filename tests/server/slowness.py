"""Attempts that take long: clients that send nothing, and many at once."""

from __future__ import annotations

import socket
import time

import httpx

from tests.server.target import G, Listed, Target


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


def _ended(line: socket.socket, end: float, last: bytes = b"") -> bool:
    line.settimeout(max(0.01, end - time.monotonic()))
    try:
        return line.recv(1) in (b"", last, b"H")
    except ConnectionError:
        return True
    except TimeoutError:
        return False
