"""What stands before Gradio's own routes: what is refused, and the headers of every answer.

Pure ASGI, so streamed answers pass through untouched. Refused: names that are not this server's
(400), requests that another site's page makes in a visitor's browser (403), use of the server as a
proxy (403), every route that is not listed (404), files named by an address in place of an upload
(422), which Gradio would download without a limit, and, where limits are set, more requests a
minute than one address needs (429) and uploads that are too large (413) or find no room (507). The
address of an upload, which is how MCP clients name it, is read as the path it holds; the routes
behind check that it is one of an upload.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import nullcontext, suppress
from typing import Any
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from components.server.disk import Uploads
from components.server.hosts import Hosts
from components.server.routes import ALLOWED, GRADIO, matcher

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

MAX_JSON = 2_000_000  # bytes; settings and questions are far smaller, uploads are forms
ADDRESSES = 10_000  # remembered by a tap
READS = 10  # requests that only read, for each that may change something
UPLOAD = f"{GRADIO}/upload"
NO_LIMIT = Uploads(0, 0)
WHOLE_PAGE = ("/", "/config")  # tens of milliseconds each: a crowd must not keep out the others
PAGES_AT_ONCE = 2
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' blob:; "
    "connect-src 'self' blob:; font-src 'self' data:; worker-src 'self' blob:; object-src 'none'; "
    "base-uri 'self'; frame-ancestors 'self'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
]
# Scripts import each other by name: after an update no browser may mix old ones with new ones.
FRESH = (b"cache-control", b"no-cache")
_UPLOAD = re.compile(r"\s*https?://[^?#]*/gradio_api/file=(.+)", re.IGNORECASE)
_ADDRESS = re.compile(r"\s*[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_PROXY = re.compile(r"/(file=|proxy=)(https?:|//)", re.IGNORECASE)


class Guard:
    """ASGI middleware; see the module."""

    def __init__(
        self,
        app: App,
        requests_per_minute: int = 0,
        framed_by: str = "",
        uploads: Uploads = NO_LIMIT,
        hosts: Hosts = Hosts(),  # noqa: B008  # frozen
        routes: Iterable[str] = ALLOWED,
    ) -> None:
        """``framed_by``: further pages that may show this one in a frame, each after a space."""
        self.app, self.uploads, self.hosts = app, uploads, hosts
        self.allows = matcher(routes)
        self.pages = asyncio.Semaphore(PAGES_AT_ONCE)
        policy = (b"content-security-policy", (POLICY + framed_by).encode())
        self.headers = [policy, *HEADERS[1:]]
        changes, reads = requests_per_minute, requests_per_minute * READS
        self.taps = {"POST": Tap(changes), "GET": Tap(reads)} if requests_per_minute else {}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":  # the page has no websockets
            return await send({"type": "websocket.close"})
        scope, named = self.hosts.visitor(scope)
        headers = dict(scope["headers"])
        if refusal := self._refusal(scope, headers, named) or await self._no_room(scope, headers):
            await _refuse(send, *refusal)
        elif scope["method"] == "POST" and not _is_upload(scope):
            await self._checked(scope, receive, send)
        else:
            await self._passed(scope, receive, send)
        return None

    async def _passed(self, scope: Message, receive: Receive, send: Send) -> None:
        turn = self.pages if scope["path"] in WHOLE_PAGE else nullcontext()
        uploading = self.uploads.under_way() if _is_upload(scope) else nullcontext()
        own = [*self.headers, FRESH] if _is_script(scope) else self.headers
        async with turn:
            with uploading, suppress(ClientDisconnect):
                await self.app(scope, receive, _with_headers(send, own))

    def _refusal(
        self, scope: Message, headers: dict[bytes, bytes], named: list[str]
    ) -> tuple[int, str] | None:
        """Status and sentence for what is refused before its body is read."""
        if not named or not all(self.hosts.answers_to(host, scope) for host in named):
            return 400, "This server does not answer to that name; --allow-host NAME adds it."
        if _foreign(headers, named):
            return 403, "This page answers only its own visitors."
        if _PROXY.search(scope["path"]) or _PROXY.search(unquote(scope["path"])):
            return 403, "This server fetches nothing from other addresses."
        tap = self.taps.get("POST" if scope["method"] == "POST" else "GET")
        if tap and not tap.allows(str((scope.get("client") or ("",))[0])):
            return 429, "Too many requests from your address. Wait a minute."
        if not self.allows(scope["method"], scope["path"]):
            return 404, "There is nothing here."
        return None

    async def _no_room(self, scope: Message, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        if not self.uploads.each_bytes or not _is_upload(scope):
            return None
        length = headers.get(b"content-length", b"").decode("latin-1")
        return await run_in_threadpool(self.uploads.refusal, length)

    async def _checked(self, scope: Message, receive: Receive, send: Send) -> None:
        """Read a body whole, judge it as the JSON that it may be, and hand it on."""
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > MAX_JSON:
                await _refuse(send, 413, "The request is too large.")
                return
        try:
            body = _with_paths(body)
        except ValueError as error:
            await _refuse(send, 422, str(error))
            return
        pending = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return pending.pop() if pending else await receive()

        await self.app(scope, replay, _with_headers(send, self.headers))


class Tap:
    """A bucket for every address: filled evenly, emptied by its requests, holding one minute's."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute, self.clock = per_minute, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # requests, since when

    def allows(self, address: str) -> bool:
        now = self.clock()
        left, since = self._left.pop(address, (float(self.per_minute), now))
        left = min(self.per_minute, left + (now - since) * self.per_minute / 60)
        self._left[address] = (left - (left >= 1), now)
        while len(self._left) > ADDRESSES:
            self._left.popitem(last=False)
        return left >= 1


def _is_script(scope: Message) -> bool:
    """Whether this asks for a script that lies in a folder of ours."""
    return "/file=" in scope["path"] and str(scope["path"]).endswith(".js")


def _is_upload(scope: Message) -> bool:
    """The one route that takes a form. All else may be read as JSON behind, whatever its label."""
    return bool(scope["method"] == "POST" and scope["path"] == UPLOAD)


def _with_paths(body: bytes) -> bytes:
    """This JSON with the paths of uploads where their addresses stood.

    Raises ``ValueError`` where a file has another address in place of its path.
    """
    try:
        content = json.loads(body)
    except RecursionError as error:
        raise ValueError("The request is nested too deeply.") from error
    except ValueError:
        return body  # not JSON: the routes behind refuse it
    pending, changed = [content], False
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            path = item.get("path")
            if isinstance(path, str) and (found := _UPLOAD.match(path)):
                item["path"], changed = unquote(found[1]), True
            if isinstance(item.get("path"), str) and _ADDRESS.match(item["path"]):
                raise ValueError("Upload the file; addresses are not fetched.")
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
    return json.dumps(content).encode() if changed else body


def _foreign(headers: dict[bytes, bytes], named: list[str]) -> bool:
    origin = headers.get(b"origin")
    return origin is not None and origin.partition(b"://")[2].decode("latin-1") not in named


def _with_headers(send: Send, headers: list[tuple[bytes, bytes]]) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            names = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [
                *message["headers"],
                *(item for item in headers if item[0] not in names),
            ]
        await send(message)

    return wrapped


async def _refuse(send: Send, status: int, text: str) -> None:
    kind, body = "text/plain; charset=utf-8", text.encode()
    if status == 422:  # the form in which Gradio's clients show a sentence to their people
        problem = {"__type__": "validate", "is_valid": False, "parameter_name": "video"}
        kind = "application/json"
        body = json.dumps({"detail": [problem | {"message": text}]}).encode()
    headers = [(b"content-type", kind.encode()), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
