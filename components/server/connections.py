"""Limits on connections: how many a visitor may open, and how slowly a client may send.

Uvicorn by itself limits only the connections of all visitors together, and waits for ever for the
rest of a request. Behind a trusted proxy all connections come from the proxy, which has to limit
those of a visitor.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import Any

import h11
from uvicorn import Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from .visitors import Proxies, visitor

# Maximum seconds for the head of a request, counted from its first byte. Until this byte arrives,
# they count from the start of the connection or the end of the last response.
HEAD_S = 10.0
BODY_BYTES_PER_S = 1000.0  # lowest speed of a request body; slower connections are closed
BODY_S = 3600.0  # maximum seconds from the first byte of a request to the end of its body
CHECK_S = 5.0  # seconds between two checks of a connection
PER_VISITOR = 128
EVERYBODY = "everybody"
DESCRIPTORS = 16_384  # limit of open files to request from the operating system
FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n"
    b"Too many connections."
)


def limit_connections(server: Server, proxies: Proxies) -> None:
    """Limit the connections that a running server accepts from now on.

    Uvicorn's proxy middleware is bypassed: it would believe any program on this machine that
    names another visitor's address. WebSockets, which the page does not use, are switched off:
    connections that Uvicorn's WebSocket protocol takes over would be counted for ever.
    """
    count: Counter[str] = Counter()
    # Half of the file descriptors; the rest is for files, pipes and refused connections.
    most = raise_descriptors() // 2
    kind: Any = partial(Connection, proxies=proxies, count=count, most=most)
    server.config.http_protocol_class = kind
    server.config.ws_protocol_class = None
    server.config.loaded_app = server.config.app


def raise_descriptors() -> int:
    """Let this process open more files, up to ``DESCRIPTORS``; return how many it may open.

    A process that has reached its limit makes asyncio log a traceback for each waiting connection,
    again and again: tens of megabytes a second.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


class Connection(H11Protocol):
    """One connection of a visitor, which is closed when the visitor sends too slowly."""

    def __init__(
        self, *args: Any, proxies: Proxies, count: Counter[str], most: int, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.proxies, self.count, self.most, self.visitor = proxies, count, most, ""
        self.received, self.since, self.slow = 0, self.loop.time(), 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = str((self.client or ("",))[0])
        if not self.proxies.trusts(address):
            self.visitor = visitor(address)
            self.count[self.visitor] += 1
        self.count[EVERYBODY] += 1
        if self.count[self.visitor] > PER_VISITOR or self.count[EVERYBODY] > self.most:
            transport.write(FULL)
            transport.close()
        else:
            self.loop.call_later(CHECK_S, self.check)

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        self.count[EVERYBODY] -= 1
        if self.visitor:
            self.count[self.visitor] -= 1
            self.count += Counter()  # removes entries whose count is zero

    def data_received(self, data: bytes) -> None:
        if self.conn.their_state is h11.IDLE and not self.received:
            self.since = self.loop.time()
        self.received += len(data)
        super().data_received(data)

    def send_400_response(self, msg: str) -> None:
        """Answer a malformed request with 400, and treat its client as disconnected."""
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:  # a response has already been started
            self.transport.close()
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.received, self.since = 0, self.loop.time()

    def check(self) -> None:
        """Close this connection if a request's head is late or its body arrives too slowly."""
        if self.transport.is_closing():
            return
        if self.conn.their_state is h11.SEND_BODY:
            slow = self.received < BODY_BYTES_PER_S * CHECK_S and not self.flow.read_paused
            self.slow, self.received = (self.slow + 1 if slow else 0), 0
            # Close after two slow checks in a row: a body that has just begun looks slow at first.
            late = self.slow > 1 or self.loop.time() - self.since > BODY_S
        else:
            idle = self.conn.their_state is h11.IDLE and self.conn.our_state is h11.IDLE
            late = idle and self.loop.time() - self.since > HEAD_S
        if late:
            self.transport.abort()
        else:
            self.loop.call_later(CHECK_S, self.check)
