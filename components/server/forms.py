"""The form of an upload, looked at as it comes in: files alone, and few of them.

Gradio holds every other field in memory, however long it is, and takes a thousand files at once.
"""

from __future__ import annotations

from contextlib import suppress

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

Refusal = tuple[int, str]  # status and sentence

MOST_FILES = 4  # the page and the clients send one
NO_FORM = 400, "An upload is a form of files that can be read."


class Form:
    """The parts of a form so far; ``refusal`` once one of them is not taken."""

    def __init__(self, boundary: bytes) -> None:
        self.refusal: Refusal | None = None
        self._files = 0
        self._name = self._value = self._disposition = b""
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._field,
                "on_header_value": self._content,
                "on_header_end": self._header,
                "on_headers_finished": self._part,
            },
        )

    def feed(self, data: bytes) -> None:
        try:
            self._parser.write(data)
        except FormParserError:
            self.refusal = self.refusal or NO_FORM

    def _begin(self) -> None:
        self._disposition = b""

    def _field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _content(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header(self) -> None:
        if self._name.lower() == b"content-disposition":
            self._disposition = self._value
        self._name = self._value = b""

    def _part(self) -> None:
        self._files += 1
        if b"filename" not in parse_options_header(self._disposition)[1]:
            self.refusal = self.refusal or NO_FORM
        elif self._files > MOST_FILES:
            self.refusal = self.refusal or (413, f"An upload holds at most {MOST_FILES} files.")


async def passed(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> Refusal | None:
    """Hand an upload on while its form is sound; where it is not, what to answer."""
    kind = parse_options_header(Headers(raw=scope["headers"]).get("content-type", ""))[1]
    if kind.get(b"charset", b"utf-8").lower() != b"utf-8":  # Python knows some that are no texts
        return NO_FORM
    try:
        form = Form(kind[b"boundary"])
    except (KeyError, FormParserError):
        return NO_FORM

    async def looked_at() -> Message:
        message = await receive()
        form.feed(message.get("body", b""))
        return {"type": "http.disconnect"} if form.refusal else message

    async def unless_refused(message: Message) -> None:
        if not form.refusal:
            await send(message)

    with suppress(ClientDisconnect):
        await app(scope, looked_at, unless_refused)
    return form.refusal
