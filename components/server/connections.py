"""Limits on connections: how many a visitor may open, and how long one may send nothing.

Uvicorn alone would wait for ever for a request that was begun. Behind a trusted proxy all
connections are the proxy's, so the proxy has to limit them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import Any

import h11
from uvicorn import Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from .hosts import Hosts, neighbourhood

HEAD_S = 10.0  # from the first byte of a request, or from connecting, to the end of its head
BODY_BYTES_PER_S = 1000.0  # slower bodies are given up
CHECK_S = 5.0  # between two checks of a connection
PER_VISITOR = 128
FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n"
    b"Too many connections from your address."
)


def watch(server: Server, hosts: Hosts) -> None:
    """Have a running server make its further connections of the kind below.

    They also reach the application itself: what Uvicorn puts before it would take the word of
    every program on this machine for a visitor's address. The page has no WebSockets; the protocol
    for them would take a connection out of the count for good.
    """
    count: Counter[str] = Counter()
    kind: Any = partial(Connection, hosts=hosts, count=count)
    server.config.http_protocol_class = kind
    server.config.ws_protocol_class = None
    server.config.loaded_app = server.config.app


class Connection(H11Protocol):
    """One connection of a visitor."""

    def __init__(self, *args: Any, hosts: Hosts, count: Counter[str], **options: Any) -> None:
        super().__init__(*args, **options)
        self.hosts, self.count = hosts, count
        self.address = ""
        self.received, self.since, self.idle = 0, self.loop.time(), 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = str((self.client or ("",))[0])
        if not self.hosts.trusts(address):
            self.address = neighbourhood(address)
            self.count[self.address] += 1
        if self.count[self.address] > PER_VISITOR:
            transport.write(FULL)
            transport.close()
        else:
            self.loop.call_later(CHECK_S, self.check)

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        if self.address:
            self.count[self.address] -= 1
            self.count += Counter()  # forgets those at zero

    def data_received(self, data: bytes) -> None:
        if self.conn.their_state is h11.IDLE and not self.received:
            self.since = self.loop.time()
        self.received += len(data)
        super().data_received(data)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.received, self.since = 0, self.loop.time()

    def check(self) -> None:
        """End this connection where it is its turn to send and it does not."""
        if self.transport.is_closing():
            return
        theirs, now = self.conn.their_state, self.loop.time()
        if theirs is h11.IDLE and self.conn.our_state is h11.IDLE:
            if now - self.since > HEAD_S:
                return self.transport.abort()
        elif theirs is h11.SEND_BODY:
            slow = self.received < BODY_BYTES_PER_S * CHECK_S and not self.flow.read_paused
            self.idle, self.received = (self.idle + 1 if slow else 0), 0
            if self.idle > 1:  # the first check may come right after the head
                return self.transport.abort()
        self.loop.call_later(CHECK_S, self.check)
        return None
