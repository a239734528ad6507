"""What stands before Gradio's own routes: what is refused, and the headers of every answer.

Pure ASGI, so streamed answers pass through untouched. Refused: requests that another site's page
makes in a visitor's browser (403), use of the server as a proxy (403), files named by an address in
place of an upload (422), which Gradio would download without a limit, and, where limits are set,
more requests a minute than one address needs (429) and uploads that are too large (413) or find no
room (507). The address of an upload, which is how MCP
clients name it, is read as the path it holds; the routes behind check that it is one of an upload.
"""

from __future__ import annotations

import json
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote, urlsplit

from starlette.concurrency import run_in_threadpool

from components.server.disk import Uploads

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

MAX_JSON = 2_000_000  # bytes; settings and questions are far smaller, uploads are forms
ADDRESSES = 10_000  # remembered by a tap
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
        uploads: Uploads | None = None,
    ) -> None:
        """``framed_by``: further pages that may show this one in a frame, each after a space."""
        self.app = app
        policy = (b"content-security-policy", (POLICY + framed_by).encode())
        self.headers = [policy, *HEADERS[1:]]
        self.tap = Tap(requests_per_minute) if requests_per_minute else None
        self.uploads = uploads

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if refusal := await self._refusal(scope, dict(scope["headers"])):
            await _refuse(send, *refusal)
        elif scope["method"] == "POST" and not _is_form(scope):
            await self._checked(scope, receive, send)
        else:
            own = [*self.headers, FRESH] if _is_script(scope) else self.headers
            await self.app(scope, receive, _with_headers(send, own))

    async def _refusal(self, scope: Message, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        """Status and sentence for what is refused before its body is read."""
        if _foreign(headers):
            return 403, "This page answers only its own visitors."
        if _PROXY.search(unquote(scope["path"])) or b"/proxy=" in scope.get("raw_path", b""):
            return 403, "This server fetches nothing from other addresses."
        if scope["method"] != "POST":
            return None
        if self.tap and not self.tap.allows(_client(scope, headers)):
            return 429, "Too many requests from your address. Wait a minute."
        if self.uploads and _is_form(scope):
            length = headers.get(b"content-length", b"").decode("latin-1")
            return await run_in_threadpool(self.uploads.refusal, length)
        return None

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


def _client(scope: Message, headers: dict[bytes, bytes]) -> str:
    """The visitor's address; behind a proxy on this machine, the one that the proxy names."""
    address = (scope.get("client") or ("", 0))[0]
    named = headers.get(b"x-forwarded-for", b"").decode("latin-1").split(",")[-1].strip()
    return named if named and address in ("127.0.0.1", "::1") else str(address)


def _is_script(scope: Message) -> bool:
    """Whether this asks for a script that lies in a folder of ours."""
    return "/file=" in scope["path"] and str(scope["path"]).endswith(".js")


def _is_form(scope: Message) -> bool:
    """Whether this is an upload. All else may be read as JSON behind, however it is labelled."""
    kinds = [value for name, value in scope["headers"] if name == b"content-type"]
    return bool(kinds) and all(kind.startswith(b"multipart/form-data;") for kind in kinds)


def _with_paths(body: bytes) -> bytes:
    """This JSON with the paths of uploads where their addresses stood.

    Raises ``ValueError`` where a file has another address in place of its path.
    """
    try:
        content = json.loads(body)
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


def _foreign(headers: dict[bytes, bytes]) -> bool:
    origin = headers.get(b"origin")
    hosts = (headers.get(b"host"), headers.get(b"x-forwarded-host"))
    return origin is not None and urlsplit(origin).netloc not in hosts


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
