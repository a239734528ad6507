"""ASGI middleware in front of Gradio's routes: refuses requests, adds headers to answers.

It refuses host names that are not this server's (400), requests that another site's page makes in
a visitor's browser (403), routes that are not listed (404), bodies that are neither uploads nor
small JSON (400, 413, 422), uploads beyond the limits (413, 429, 507) and more events of one visitor
than allowed (429). Slow clients and floods are the work of a proxy: see ``deploy/``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gleanvid.errors import DISK_FULL, sentence

from ..jobs.failures import FAILURE_LOG
from .allowed import ALLOWED, GRADIO, MAX_JSON, UPLOAD, RefusedError, checked_json, matcher
from .gradio_patches import events_of
from .uploads import Uploads
from .visitors import bracketed, visitor

LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
BEGUN_BY = re.compile(rf"{GRADIO}/(queue/join|call/.*)")  # routes that queue a Gradio event
# Headers that Gradio would trust from any sender. Uvicorn has read those of trusted proxies.
FORWARDED = (b"x-forwarded-", b"forwarded", b"x-gradio-server")
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' blob:; "
    "connect-src 'self' blob:; font-src 'self' data:; worker-src 'self' blob:; object-src 'none'; "
    "base-uri 'self'; frame-ancestors 'self'"
)
NOTHING = "There is nothing at this address."
FAULT = "The server failed to answer this request."
UNFIT = "A value of this request is not of the type that /gradio_api/info lists."
MUCH = "Too many requests from your address are running. Try again in a minute."


class Guard:
    """ASGI middleware that refuses requests and adds headers; see the module docstring.

    Args:
        app: application to guard.
        framed_by: other sites that may show the page in a frame, each preceded by a space.
        uploads: limits on uploads; None for no limit.
        hosts: further host names of this server; ``*.example.org`` allows all subdomains.
        routes: allowed routes.
        events: maximum number of waiting and running events of one visitor; 0 for no limit.
    """

    def __init__(
        self,
        app: ASGIApp,
        framed_by: str = "",
        uploads: Uploads | None = None,
        hosts: Sequence[str] = (),
        routes: Iterable[str] = ALLOWED,
        events: int = 0,
    ) -> None:
        self.app, self.uploads, self.events = app, uploads, events
        self.allows = matcher(routes)
        self.headers = {
            "content-security-policy": POLICY + framed_by,
            "x-content-type-options": "nosniff",
            "referrer-policy": "same-origin",
        }

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
        kept = [item for item in scope["headers"] if not item[0].startswith(FORWARDED)]
        reached = bracketed(str((scope.get("server") or ("",))[0]))
        inner = {**scope, "headers": kept}
        return await self._named(reached)(inner, receive, self._with_headers(send))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun: list[Message] = []

        async def noted(message: Message) -> None:
            begun[:] = begun or [message]
            await send(message)

        try:
            self._check(scope)
            if scope["method"] == "POST":
                receive = await self._checked_body(scope, receive)
            await self.app(scope, receive, noted)
        except ClientDisconnect:
            pass
        except RefusedError as refused:
            await _refuse(send, refused.status, refused.text)
        except Exception as error:  # otherwise uvicorn logs what the visitor sent
            FAILURE_LOG.print_exc()
            if not begun:
                await _refuse(send, *_fault(error))

    def _check(self, scope: Scope) -> None:
        """Check origin and route of a request. Raises ``RefusedError``."""
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != headers["host"]:
            raise RefusedError(403, "This server answers only requests from its own page.")
        if not self.allows(scope["method"], scope["path"]):
            raise RefusedError(404, NOTHING)

    async def _checked_body(self, scope: Scope, receive: Receive) -> Receive:
        """Check the body of a POST request; return an ASGI ``receive`` that yields it."""
        name = visitor(str((scope.get("client") or ("",))[0]))
        if scope["path"] == UPLOAD:  # the only route that accepts a form instead of JSON
            if self.uploads:
                length = Headers(scope=scope).get("content-length", "")
                await run_in_threadpool(self.uploads.check, length, name)
            return receive
        body = checked_json(await _body(scope, receive))
        counted = self.events and BEGUN_BY.fullmatch(scope["path"])
        if counted and events_of(scope["app"], name) >= self.events:
            raise RefusedError(429, MUCH)
        pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return pending.pop() if pending else await receive()

        return replay

    def _with_headers(self, send: Send) -> Send:
        async def wrapped(message: Message) -> None:
            if message["type"] == "http.response.start":
                for name, text in self.headers.items():
                    MutableHeaders(scope=message).setdefault(name, text)
            await send(message)

        return wrapped


async def _body(scope: Scope, receive: Receive) -> bytes:
    """Read a request body, until it is longer than allowed."""
    body = bytearray()
    async for part in Request(scope, receive).stream():
        body += part
        if len(body) > MAX_JSON:
            break
    return bytes(body)


def _fault(error: Exception) -> tuple[int, str]:
    """Return the HTTP status and a sentence for an error raised in one of Gradio's routes."""
    if isinstance(error, TypeError | KeyError):  # unknown arguments, or an unknown function
        return 400, UNFIT
    return (507, sentence(error)) if sentence(error) == DISK_FULL else (500, FAULT)


async def _refuse(send: Send, status: int, text: str) -> None:
    answer: Response = PlainTextResponse(text, status)
    if status == 422:  # Gradio's clients show users a sentence that has this JSON form
        problem = {"__type__": "validate", "is_valid": False, "parameter_name": "video"}
        answer = JSONResponse({"detail": [problem | {"message": text}]}, status)

    async def nothing(*_: Any) -> Any:
        """Stand for an ASGI ``receive``: the rest of the request is not read."""

    await answer({"type": "http"}, nothing, send)
