"""Checks of requests: the list of allowed routes, and the JSON that they accept.

Other routes answer 404, also those that a newer Gradio adds, until they are listed here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import unquote

GRADIO = "/gradio_api"
FILE = f"{GRADIO}/file="
UPLOAD = f"{GRADIO}/upload"
PREDICT = f"{GRADIO}/run/predict"  # route of events that bypass Gradio's queue
PAGE = (
    "GET /",
    "HEAD /",
    "GET /healthz",
    "GET /theme.css",
    "GET /favicon.ico",
    "GET /modules/{name}",
    "GET /docs",
    "GET /docs/{rest:path}",
    "GET /static/{path:path}",
    "GET /assets/{path:path}",
    f"GET {GRADIO}/startup-events",
    f"GET {GRADIO}/theme.css",
    f"GET {FILE}{{path_or_url:path}}",
    f"HEAD {FILE}{{path_or_url:path}}",
    f"GET {GRADIO}/heartbeat/{{session_hash}}",
    f"GET {GRADIO}/queue/data",
    f"GET {GRADIO}/upload_progress",
    f"GET {GRADIO}/info",
    f"GET {GRADIO}/app_id",
    f"POST {GRADIO}/queue/join",
    f"POST {PREDICT}",
    f"POST {UPLOAD}",
    f"POST {GRADIO}/cancel",
    f"POST {GRADIO}/reset",
)
CLIENTS = (  # routes used by gradio_client, curl and the snippets of the tab Export and API
    "GET /config",
    f"GET {GRADIO}/queue/status",
    f"POST {GRADIO}/call/{{api_name}}",
    f"GET {GRADIO}/call/{{api_name}}/{{event_id}}",
    f"POST {GRADIO}/call/v2/{{api_name}}",
    f"GET {GRADIO}/call/v2/{{api_name}}/{{event_id}}",
)
MCP = tuple(f"{method} {GRADIO}/mcp/{{rest:path}}" for method in ("GET", "POST", "DELETE"))
ALLOWED = PAGE + CLIENTS
# Values that {api_name} may have in a path: visitors cannot call the page's own events there.
ENDPOINTS = "(?:ask|compress|compare)"
MAX_JSON = 2**18  # maximum bytes of a JSON body; settings and questions are smaller
_NAME = re.compile(r"[\w-]{1,64}", re.ASCII)
_ADDRESS = re.compile(r"\s*([a-z][a-z0-9+.-]+:/|https?:|//)", re.IGNORECASE)
_UPLOADED = re.compile(r"\s*https?://[^?#]*/gradio_api/file=(.+)", re.IGNORECASE)


class RefusedError(Exception):
    """Raised for a refused request, with the HTTP status and the sentence to send."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


def matcher(allowed: Iterable[str]) -> Callable[[str, str], bool]:
    """Return a function that says whether an HTTP method and a decoded path are allowed.

    ``allowed``: entries like "METHOD /path/{name}".
    """
    found = re.compile("|".join(map(_pattern, allowed)), re.DOTALL)

    def allows(method: str, path: str) -> bool:
        name = path.removeprefix(FILE)
        # Gradio would fetch a file that is a web address.
        if name != path and _ADDRESS.match(unquote(name)):
            return False
        return bool(found.fullmatch(f"{method} {path}"))

    return allows


def _pattern(entry: str) -> str:
    def part(found: re.Match[str]) -> str:
        if found[2]:
            return ".*"
        return ENDPOINTS if found[1] == "api_name" else "[^/]+"

    return re.sub(r"\\\{(\w+)(:path)?\\\}", part, re.escape(entry))


def checked_json(body: bytes) -> bytes:
    """Check the JSON of a request; return it with the URLs of uploads replaced by their paths.

    The JSON is serialised again, so that Gradio cannot parse it differently than this check.

    Raises:
        RefusedError: the body is too large or no JSON, has a malformed session name, or names a
            file by a web address. (Gradio would download it, without any limit.)
    """
    if len(body) > MAX_JSON:
        raise RefusedError(413, "The request is too large.")
    if not body:
        return body
    try:
        # Only UTF-8: for bytes, json guesses the encoding.
        content = json.loads(body.decode(), object_hook=_checked)
        # Infinite numbers and lone surrogates are no JSON.
        return json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, "The body of the request is not valid JSON.") from error


def _checked(item: dict[str, Any]) -> dict[str, Any]:
    """Check one object of a body. The URL of an upload, which MCP clients send, becomes its path.

    Gradio joins a session and an event with "<gradio-sep>"; a name that contains it would break
    cancelling for every visitor. It remembers names of sessions, so they are short.
    """
    if not all(_NAME.fullmatch(str(item.get(key))) for key in ("session_hash", "event_id")):
        raise RefusedError(400, "session_hash, event_id: use letters, digits, - and _.")
    path = item.get("path")
    if isinstance(path, str):
        uploaded = _UPLOADED.match(path)
        item["path"] = path = unquote(uploaded[1]) if uploaded else path
        if _ADDRESS.match(path):
            raise RefusedError(422, "Upload the file; this server fetches no web addresses.")
    return item
