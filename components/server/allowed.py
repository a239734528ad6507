"""Checks of requests: the list of allowed routes, and limits on JSON bodies.

Other routes answer 404, also those that a newer Gradio adds, until they are listed here.
Bodies other than uploads must be JSON that is small and not deeply nested.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from gradio.data_classes import _StaticFiles
from gradio.utils import get_upload_folder

from gleanvid.video.isolation.bounds import fits

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
    "GET /modules/{version}/{name:path}",
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
LONGEST_NAME = 255  # maximum bytes of a file name; Gradio fails on longer ones
LONGEST_PATH = 1024  # maximum number of characters of a path
MAX_JSON = 2**18  # maximum bytes of a JSON body; settings and questions are smaller
MAX_ITEMS = 20_000
MAX_DEPTH = 32
MAX_FILES = 16  # maximum number of files that a request names: each is looked up on disk
_ADDRESS = re.compile(r"\s*([a-z][a-z0-9+.-]+:/|https?:|//)", re.IGNORECASE)
_UPLOADED = re.compile(r"\s*https?://[^?#]*/gradio_api/file=(.+)", re.IGNORECASE)
# Gradio joins the names of a session and an event with a separator and splits them again. A name
# that contains the separator would break cancelling for every visitor.
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,64}")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


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
        if _is_long(name):
            return False
        # Gradio would download the file at such a URL.
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
        RefusedError: the body is too large, nested too deeply or no JSON, has a malformed session
            name, or names a file that is neither an upload nor an example. (Gradio would
            download a file given by a URL, without any limit.)
    """
    if not body:
        return body
    if not fits(body, MAX_JSON, MAX_ITEMS, MAX_DEPTH):
        raise RefusedError(413, "The request is too large or nested too deeply.")
    try:
        content = json.loads(body.decode())  # only UTF-8: for bytes, json guesses the encoding
        # Raises for infinite numbers (allow_nan) and lone surrogates (encode), which are not JSON.
        json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, "The body of the request is not valid JSON.") from error
    if isinstance(content, dict):
        _check_names(content)
    named = [item for item in _dictionaries(content) if "path" in item or "video" in item]
    if len(named) > MAX_FILES:
        raise RefusedError(413, "The request names too many files.")
    for item in named:
        _check_file(item)
    return json.dumps(content).encode()


def _check_names(content: dict[str, Any]) -> None:
    for key in ("session_hash", "event_id"):
        name = content.get(key)
        if isinstance(name, str) and not _SESSION.fullmatch(name):
            raise RefusedError(400, "session_hash, event_id: use 1 to 64 letters, digits, - and _.")


def _dictionaries(content: Any) -> Iterator[dict[str, Any]]:
    pending = [content]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            yield item
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)


def _check_file(item: dict[str, Any]) -> None:
    """Check a file that a request names. Raises ``RefusedError`` if it may not be used.

    The URL of an upload, which MCP clients send, is replaced by the path of the upload.
    """
    path, video = item.get("path"), item.get("video")
    if isinstance(video, str) and video.startswith("data:"):
        raise RefusedError(422, "Upload the file; a file sent as text is not accepted.")
    if isinstance(path, str):
        uploaded = _UPLOADED.match(path)
        item["path"] = path = unquote(uploaded[1]) if uploaded else path
        if _ADDRESS.match(path):
            raise RefusedError(422, "Upload the file; this server fetches no web addresses.")
        if len(path) > LONGEST_PATH or CONTROL.search(path) or not _is_served(path):
            raise RefusedError(422, "Upload the file; this path does not belong to an upload.")


def _is_served(path: str) -> bool:
    """Whether a path is an example of the page, or a file in a subfolder of the uploads.

    Gradio would refuse other paths as well, but would log them at full length.
    """
    real, uploads = Path(os.path.realpath(path)), os.path.realpath(get_upload_folder())
    is_upload = real.parent.is_relative_to(uploads) and real.parent != Path(uploads)
    is_example = any(real.is_relative_to(path) for path in _StaticFiles.all_paths)
    return not _is_long(path) and (is_upload or is_example)


def _is_long(path: str) -> bool:
    """Whether a part of this path is too long for the file system."""
    return any(len(part) > LONGEST_NAME for part in path.encode("utf-8", "replace").split(b"/"))
