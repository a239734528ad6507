"""Bodies of requests that are no uploads: JSON, read whole and judged before it goes on.

A file named by an address in place of an upload is refused: Gradio would download it without a
limit. The address of an upload, which is how MCP clients name it, is read as the path it holds; the
routes behind check that it is one of an upload.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from gleanvid.video.isolation.bounds import fits

MAX_JSON = 2**18  # bytes; settings and questions are smaller, uploads are forms
MAX_ITEMS = 20_000
MAX_DEPTH = 32
NAMES = ("session_hash", "event_id")  # that a visitor gives
# Gradio keeps them, and takes the names of its tasks apart again: one with its separator would
# leave nobody able to stop anything.
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_UPLOAD = re.compile(r"\s*https?://[^?#]*/gradio_api/file=(.+)", re.IGNORECASE)
_ADDRESS = re.compile(r"\s*[a-z][a-z0-9+.-]+://", re.IGNORECASE)


class RefusedError(Exception):
    """A body is not taken: the status of the answer and its sentence."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


async def whole(receive: Receive) -> bytes:
    """All of a body. Raises ``RefusedError`` beyond the limit and ``ClientDisconnect``."""
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MAX_JSON:
            raise RefusedError(413, "The request is too large.")
    return bytes(body)


def judged(body: bytes) -> bytes:
    """This JSON with the paths of uploads where their addresses stood. Raises ``RefusedError``.

    Written anew, so that nothing behind reads it in another way.
    """
    if not body:
        return body
    if not fits(body, MAX_JSON, MAX_ITEMS, MAX_DEPTH):
        raise RefusedError(413, "The request holds too much, or is nested too deeply.")
    try:
        content = json.loads(body.decode())  # of bytes it reads other encodings, too
        json.dumps(content, ensure_ascii=False).encode()  # not every text can be written
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, "The request is no JSON.") from error
    if isinstance(content, dict) and any(_odd(content.get(name)) for name in NAMES):
        raise RefusedError(400, "The name of a session has 1 to 64 letters, digits, - and _.")
    _put_paths(content)
    return json.dumps(content).encode()


def _odd(name: Any) -> bool:
    return isinstance(name, str) and not NAME.fullmatch(name)


def _put_paths(content: Any) -> None:
    pending = [content]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            path = item.get("path")
            if isinstance(held := item.get("video"), str) and held.startswith("data:"):
                raise RefusedError(422, "Upload the file; it is not taken as a text.")  # by MCP
            if isinstance(path, str) and (found := _UPLOAD.match(path)):
                item["path"] = unquote(found[1])
            if isinstance(item.get("path"), str) and _ADDRESS.match(item["path"]):
                raise RefusedError(422, "Upload the file; addresses are not fetched.")
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
