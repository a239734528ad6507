"""HTTP client that follows no redirects and opens no ``file:`` URLs; other threads can stop it."""

from __future__ import annotations

import urllib.request
from contextlib import suppress
from http.client import HTTPConnection
from socket import SHUT_RDWR, socket
from typing import Any
from urllib.parse import urlsplit

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Connections:
    """The connections of a request that waits in another thread for its response."""

    def __init__(self) -> None:
        self._all: list[HTTPConnection] = []
        self._sockets: list[socket] = []  # urllib takes a connection's socket from it
        self._shut = False

    def add(self, connection: HTTPConnection) -> None:
        """Add a connection before it connects."""
        connect = connection.connect

        def connect_unless_shut() -> None:
            connect()
            self._sockets.append(connection.sock)
            if self._shut:
                connection.close()
                raise OSError("the request was given up")

        connection.connect = connect_unless_shut  # type: ignore[method-assign]
        self._all.append(connection)

    def shut(self) -> None:
        """Shut all connections, also those that connect later.

        Otherwise a server that sends ``100 Continue`` or trailers for ever would keep Python's HTTP
        client reading.
        """
        self._shut = True  # before the sockets are read: a connection is closed here or there
        for sock in [*(connection.sock for connection in self._all), *self._sockets]:
            with suppress(OSError, AttributeError):  # the socket is closed, or not open yet
                sock.shutdown(SHUT_RDWR)


class Request(urllib.request.Request):
    """A request that adds its connection to ``connections``."""

    def __init__(self, connections: Connections, url: str, *given: Any) -> None:
        super().__init__(url, *given)
        self.connections = connections


class _Proxies(urllib.request.ProxyHandler):
    """Proxies of the environment, but not for this machine: a proxy would get the API key."""

    def proxy_open(self, req: Any, proxy: str, type: str) -> Any:
        if urlsplit(f"//{req.host}").hostname in LOOPBACK:
            return None
        return super().proxy_open(req, proxy, type)


class _Handler(urllib.request.HTTPSHandler, urllib.request.HTTPHandler):
    def do_open(self, http_class: Any, req: Any, **options: Any) -> Any:
        def connect(*given: Any, **named: Any) -> HTTPConnection:
            req.connections.add(connection := http_class(*given, **named))
            return connection

        return super().do_open(connect, req, **options)


def _opener() -> urllib.request.OpenerDirector:
    opener = urllib.request.OpenerDirector()
    schemes = {"http", "https"}
    named = urllib.request.getproxies().items()
    opener.add_handler(_Proxies({scheme: proxy for scheme, proxy in named if scheme in schemes}))
    for kind in (
        _Handler,
        urllib.request.HTTPErrorProcessor,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.UnknownHandler,
    ):
        opener.add_handler(kind())
    return opener


OPENER = _opener()
