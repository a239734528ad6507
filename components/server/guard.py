"""ASGI middleware before Gradio's routes: refuses requests and sets the headers of every answer.

Streamed answers pass through untouched. Refused: names that are not this server's
(400), requests that another site's page makes in a visitor's browser (403), use of the server as a
proxy (403), every route that is not listed (404), bodies that :mod:`.bodies` and :mod:`.forms` do
not take, and, where limits are set, more requests a minute or at a time than one address needs
(429) and uploads that are too large (413) or find no room (507).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack, suppress
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..session.work.rates import RateLimit
from . import bodies, forms
from .disk import Uploads
from .events import AT_ONCE, BEGUN_BY, TOO_MANY, Events, Turns
from .hosts import Hosts, neighbourhood
from .routes import ALLOWED, GRADIO, matcher

READS = 10  # requests that only read a part, for each that may change something
UPLOAD = f"{GRADIO}/upload"
TRACKED = (UPLOAD, f"{GRADIO}/upload_progress")  # Gradio keeps what these are asked
MAX_QUERY = 128  # bytes after their "?"
NO_LIMIT = Uploads(0, 0)
WHOLE_PAGE = ("/", "/config")  # tens of milliseconds each: a crowd must not keep out the others
PAGES_AT_ONCE = 2
TOLD = re.compile(rf"{GRADIO}/(queue/data|call/.*)")  # what becomes of events
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
# Gradio answers a request for a part of a file with all headers of that request.
OF_FILES = {b"host", b"range", b"if-range", b"if-none-match", b"if-modified-since"}
ONE_RANGE = re.compile(rb"bytes=([0-9]{1,15}-[0-9]{0,15}|-[0-9]{1,15})")
_PROXY = re.compile(r"/(file=|proxy=)(https?:|//)", re.IGNORECASE)


class Guard:
    """ASGI middleware; see the module."""

    def __init__(
        self,
        app: ASGIApp,
        requests_per_minute: int = 0,
        framed_by: str = "",
        uploads: Uploads = NO_LIMIT,
        hosts: Hosts = Hosts(),  # noqa: B008  # frozen
        routes: Iterable[str] = ALLOWED,
        events: int = 0,
        under_way: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """``framed_by``: further pages that may show this one in a frame, each after a space.

        ``events`` and ``under_way``: as in :class:`Events`.
        """
        self.app, self.uploads, self.hosts = app, uploads, hosts
        self.events = Events(events, under_way)
        self.turns = Turns() if events else None
        self.allows = matcher(routes)
        self.pages = asyncio.Semaphore(PAGES_AT_ONCE)
        policy = (b"content-security-policy", (POLICY + framed_by).encode())
        self.headers = [policy, *HEADERS[1:]]
        reads = requests_per_minute * READS
        limits = {"change": requests_per_minute, "page": requests_per_minute, "read": reads}
        self.rates = {
            kind: RateLimit(limit) for kind, limit in limits.items() if requests_per_minute
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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

    async def _passed(self, scope: Scope, receive: Receive, send: Send) -> None:
        send = _with_headers(send, self.headers)
        with suppress(ClientDisconnect):
            if scope["path"] in WHOLE_PAGE:
                await self._page(scope, receive, send)
            elif _is_upload(scope):
                with self.uploads.under_way():
                    refusal = await forms.passed(self.app, scope, receive, send)
                if refusal:
                    await _refuse(send, *refusal)
            elif TOLD.fullmatch(scope["path"]):
                with suppress(RuntimeError):  # nobody's events: a page of log for each request
                    await self.app(scope, receive, send)
            else:
                await self.app(_lean(scope), receive, send)

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Make the page in turn; who takes long to receive it keeps nobody waiting."""
        async with AsyncExitStack() as place:
            await place.enter_async_context(self.pages)

            async def answered(message: Message) -> None:
                await place.aclose()
                await send(message)

            await self.app(scope, receive, answered)

    def _refusal(
        self, scope: Scope, headers: dict[bytes, bytes], named: list[str]
    ) -> tuple[int, str] | None:
        """Status and sentence for what is refused before its body is read."""
        if not named or not all(self.hosts.answers_to(host, scope) for host in named):
            return 400, "This server does not answer to that name; --allow-host NAME adds it."
        if b"transfer-encoding" in headers and b"content-length" in headers:
            return 400, "The request tells its length twice."
        if _foreign(headers, named):
            return 403, "This page answers only its own visitors."
        if _PROXY.search(scope["path"]) or _PROXY.search(unquote(scope["path"])):
            return 403, "This server fetches nothing from other addresses."
        rate = self.rates.get(_kind(scope))
        if rate and not rate.allows(_visitor(scope)):
            return 429, "Too many requests from your address. Wait a minute."
        if not self.allows(scope["method"], scope["path"]):
            return 404, "There is nothing here."
        if scope["path"] in TRACKED and len(scope["query_string"]) > MAX_QUERY:
            return 414, "The name of an upload is too long."
        return None

    async def _no_room(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        if not self.uploads.each_bytes or not _is_upload(scope):
            return None
        length = headers.get(b"content-length", b"").decode("latin-1")
        return await run_in_threadpool(self.uploads.refusal, length, _visitor(scope))

    async def _checked(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read a body whole, judge it as JSON, and hand on what was judged."""
        try:
            body = bodies.judged(await bodies.whole(receive))
        except bodies.RefusedError as refused:
            await _refuse(send, refused.status, refused.text)
            return
        except ClientDisconnect:
            return
        pending = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return pending.pop() if pending else await receive()

        own = _with_headers(send, self.headers)
        if self.turns and scope["path"] == AT_ONCE:
            async with self.turns.taken(_visitor(scope)) as allowed:
                await (self.app(scope, replay, own) if allowed else _refuse(send, *TOO_MANY))
            return None
        if not BEGUN_BY.fullmatch(scope["path"]):
            return await self.app(scope, replay, own)
        with self.events.begun(_visitor(scope)) as allowed:
            await (self.app(scope, replay, own) if allowed else _refuse(send, *TOO_MANY))
        return None


def _kind(scope: Scope) -> str:
    """Which limit a request counts for."""
    if scope["method"] == "POST":
        return "change"
    return "page" if scope["path"] in WHOLE_PAGE else "read"


def _visitor(scope: Scope) -> str:
    return neighbourhood(str((scope.get("client") or ("",))[0]))


def _lean(scope: Scope) -> Scope:
    """A request for a file with no more headers than that takes; several parts are the whole."""
    if "/file=" not in scope["path"]:
        return scope
    kept = [
        (name, value)
        for name, value in scope["headers"]
        if name in OF_FILES and (name != b"range" or ONE_RANGE.fullmatch(value))
    ]
    return {**scope, "headers": kept}


def _is_upload(scope: Scope) -> bool:
    """The one route that takes a form. All else may be read as JSON behind, whatever its label."""
    return bool(scope["method"] == "POST" and scope["path"] == UPLOAD)


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
