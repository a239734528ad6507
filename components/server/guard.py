"""ASGI middleware around the whole Gradio application: refuses requests, adds headers to answers.

It refuses host names that are not this server's (400), requests that another site's page makes in
a visitor's browser (403), routes that are not listed (404) and bodies that are neither uploads nor
small JSON (400, 413, 422). If limits are set, it refuses requests beyond a visitor's limit (429)
and uploads that exceed the server's storage (507). Streamed answers pass through unchanged.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from functools import lru_cache

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import URL, Headers, MutableHeaders, QueryParams
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gleanvid.errors import DISK_FULL, sentence

from .allowed import (
    ALLOWED,
    CONTROL,
    GRADIO,
    MAX_JSON,
    PREDICT,
    UPLOAD,
    RefusedError,
    checked_json,
    matcher,
)
from .gradio_patches import FAILURE_LOG, UNFIT, without_mirrored
from .uploads import Uploads
from .visitors import Events, Proxies, RateLimit, bracketed, doubled, nothing, welcomed

READS = 10  # how many times more GET requests (files, scripts) than POST requests are allowed
MAX_QUERY = 128  # maximum bytes of an upload's query string, whose upload_id Gradio stores
PAGES = ("/", "/config")  # routes that take tens of milliseconds to render
PAGES_AT_ONCE = 2  # maximum number of pages rendered at the same time
BEGUN_BY = re.compile(rf"{GRADIO}/(queue/join|call/.*)")  # routes that start a Gradio event
FORM = re.compile(  # no charset but UTF-8: Gradio would decode with any codec of Python
    r"multipart/form-data; *boundary=[^;,]{1,80}(; *charset=\"?utf-8\"?)?", re.IGNORECASE
)
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' blob:; "
    "connect-src 'self' blob:; font-src 'self' data:; worker-src 'self' blob:; object-src 'none'; "
    "base-uri 'self'; frame-ancestors 'self'"
)
NOTHING = "There is nothing at this address."
FAULT = "The server failed to answer this request."
MUCH = "Too many requests from your address are running. Try again in a minute."


class Guard:
    """ASGI middleware that refuses requests and adds headers; see the module docstring.

    Args:
        app: application to guard.
        requests_per_minute: maximum number of POST requests of one visitor; 0 for no limit.
        framed_by: other sites that may show the page in a frame, each preceded by a space.
        uploads: limits on uploads; None for no limit.
        hosts: further host names of this server; ``*.example.org`` allows all subdomains.
        proxies: proxies whose forwarded headers are trusted.
        routes: allowed routes.
        events: maximum number of waiting and running events of one visitor; 0 for no limit.
        under_way: returns the address of every event that waits or runs in Gradio's queue.
    """

    def __init__(
        self,
        app: ASGIApp,
        requests_per_minute: int = 0,
        framed_by: str = "",
        uploads: Uploads | None = None,
        hosts: Sequence[str] = (),
        proxies: Proxies = Proxies(),  # noqa: B008  # never changed
        routes: Iterable[str] = ALLOWED,
        events: int = 0,
        under_way: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self.app, self.uploads, self.proxies = app, uploads, proxies
        self.events = Events(events, under_way)
        self.allows = matcher(routes)
        self.pages = asyncio.Semaphore(PAGES_AT_ONCE)
        self.headers = {
            "content-security-policy": POLICY + framed_by,
            "x-content-type-options": "nosniff",
            "referrer-policy": "same-origin",
        }
        reads = requests_per_minute * READS
        limits = {"change": requests_per_minute, "page": requests_per_minute, "read": reads}
        self.rates = {kind: RateLimit(limit) for kind, limit in limits.items() if limit}

        @lru_cache(16)
        def named(reached: str) -> TrustedHostMiddleware:
            names = (*LOCAL_NAMES, *hosts, reached)
            return TrustedHostMiddleware(self._answer, names, www_redirect=False)

        self._named = named

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":  # the page uses no websockets
            return await send({"type": "websocket.close"})
        if doubled(scope):
            return await _refuse(send, 400, "The request has the same header twice.")
        scope = await self.proxies.unwrapped(scope)
        reached = bracketed(str((scope.get("server") or ("",))[0]))
        return await self._named(reached)(scope, receive, self._with_headers(send))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = welcomed(scope)
        begun: list[Message] = []

        async def noted(message: Message) -> None:
            begun[:] = begun or [message]
            await send(message)

        try:
            self._check(scope, name)
            if scope["method"] == "POST":
                return await self._post(scope, receive, noted, name)
            if scope["path"] in PAGES:
                return await self._page(scope, receive, noted)
            await self.app(without_mirrored(scope), receive, noted)
        except ClientDisconnect:
            pass
        except RefusedError as refused:
            await _refuse(send, refused.status, refused.text)
        except Exception as error:  # otherwise uvicorn logs what the visitor sent
            FAILURE_LOG.print_exc()
            if not begun:
                await _refuse(send, *_fault(error))

    def _check(self, scope: Scope, name: str) -> None:
        """Check rate limit, route and headers of a request. Raises ``RefusedError``."""
        headers = dict(scope["headers"])
        if URL(scope=scope).netloc.encode("latin-1") != headers[b"host"]:  # invalid port
            raise RefusedError(400, "The host header of the request names an invalid port.")
        if b"transfer-encoding" in headers and b"content-length" in headers:
            raise RefusedError(400, "The request states its length twice.")
        origin = headers.get(b"origin")
        if origin is not None and origin.partition(b"://")[2] != headers[b"host"]:
            raise RefusedError(403, "This server answers only requests from its own page.")
        rate = self.rates.get(_kind(scope))
        if rate and not rate.allows(name):
            raise RefusedError(429, "Too many requests from your address. Wait a minute.")
        if CONTROL.search(scope["path"]) or not self.allows(scope["method"], scope["path"]):
            raise RefusedError(404, NOTHING)
        if scope["path"] in PAGES and QueryParams(scope["query_string"]).get("page"):
            raise RefusedError(404, NOTHING)  # the app has a single page; Gradio raises for others
        if scope["path"].startswith(UPLOAD) and len(scope["query_string"]) > MAX_QUERY:
            raise RefusedError(414, "The query string (upload_id) of an upload is too long.")

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Render a page, at most ``PAGES_AT_ONCE`` at a time.

        A page that is being sent no longer counts, so a slow client blocks nobody.
        """
        async with AsyncExitStack() as place:
            await place.enter_async_context(self.pages)

            async def release(message: Message) -> None:
                await place.aclose()
                await send(message)

            await self.app(scope, receive, release)

    async def _post(self, scope: Scope, receive: Receive, send: Send, name: str) -> None:
        path = scope["path"]
        if path == UPLOAD:  # the only route that accepts a form instead of JSON
            await self._check_upload(Headers(scope=scope), name)
            return await self.app(scope, receive, send)
        receive = _replayed(checked_json(await _body(scope, receive)), receive)
        if path == PREDICT:
            async with self.events.preview(name) as allowed:
                return await self._begun(allowed, scope, receive, send)
        if not BEGUN_BY.fullmatch(path):
            return await self.app(scope, receive, send)
        with self.events.begin(name) as allowed:
            return await self._begun(allowed, scope, receive, send)

    async def _check_upload(self, headers: Headers, name: str) -> None:
        kinds = headers.getlist("content-type")
        if len(kinds) != 1 or not FORM.fullmatch(kinds[0]):
            raise RefusedError(
                400, "An upload must be a multipart form in UTF-8 with readable files."
            )
        if self.uploads:
            length = headers.get("content-length", "")
            await run_in_threadpool(self.uploads.check, length, name)

    async def _begun(self, allowed: bool, scope: Scope, receive: Receive, send: Send) -> None:
        if not allowed:
            raise RefusedError(429, MUCH)
        await self.app(scope, receive, send)

    def _with_headers(self, send: Send) -> Send:
        async def wrapped(message: Message) -> None:
            if message["type"] == "http.response.start":
                for name, text in self.headers.items():
                    MutableHeaders(scope=message).setdefault(name, text)
            await send(message)

        return wrapped


def _kind(scope: Scope) -> str:
    """Return which rate limit applies to a request: "change", "page" or "read"."""
    if scope["method"] == "POST":
        return "change"
    return "page" if scope["path"] in PAGES else "read"


async def _body(scope: Scope, receive: Receive) -> bytes:
    """Read a whole request body. Raises ``RefusedError`` if the body is too long."""
    body = bytearray()
    async for part in Request(scope, receive).stream():
        body += part
        if len(body) > MAX_JSON:
            raise RefusedError(413, "The request is too large.")
    return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return an ASGI ``receive`` that yields the body already read, then the rest."""
    pending = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay


def _fault(error: Exception) -> tuple[int, str]:
    """Return the HTTP status and a sentence for an error raised in one of Gradio's routes."""
    if isinstance(error, TypeError):  # an API call with unknown arguments
        return 400, UNFIT
    return (507, sentence(error)) if sentence(error) == DISK_FULL else (500, FAULT)


async def _refuse(send: Send, status: int, text: str) -> None:
    answer: Response = PlainTextResponse(text, status)
    if status == 422:  # Gradio's clients show users a sentence that has this JSON form
        problem = {"__type__": "validate", "is_valid": False, "parameter_name": "video"}
        answer = JSONResponse({"detail": [problem | {"message": text}]}, status)
    await answer({"type": "http"}, nothing, send)
