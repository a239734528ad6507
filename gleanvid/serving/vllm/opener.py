"""HTTP client that follows no redirects and opens no ``file:`` URLs; other threads can stop it."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterable
from contextlib import suppress
from http.client import HTTPConnection
from socket import SHUT_RDWR
from typing import Any


class Request(urllib.request.Request):
    """A request that adds its connection to the list ``connections``."""

    def __init__(self, connections: list[HTTPConnection], url: str, *given: Any) -> None:
        super().__init__(url, *given)
        self.connections = connections


def shut(connections: Iterable[HTTPConnection]) -> None:
    """Shut connections whose response has not begun, so that threads stop waiting for it.

    Otherwise a server that sends ``100 Continue`` for ever would keep Python's HTTP client reading.
    """
    for sock in [connection.sock for connection in connections]:
        # The socket may be closed, or be None because the response has begun.
        with suppress(OSError, AttributeError):
            sock.shutdown(SHUT_RDWR)


class _Handler(urllib.request.HTTPSHandler, urllib.request.HTTPHandler):
    def do_open(self, http_class: Any, req: Any, **options: Any) -> Any:
        def connect(*given: Any, **named: Any) -> HTTPConnection:
            req.connections.append(connection := http_class(*given, **named))
            return connection

        return super().do_open(connect, req, **options)


def _opener() -> urllib.request.OpenerDirector:
    opener = urllib.request.OpenerDirector()
    for kind in (
        _Handler,
        urllib.request.ProxyHandler,
        urllib.request.HTTPErrorProcessor,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.UnknownHandler,
    ):
        opener.add_handler(kind())
    return opener


OPENER = _opener()
