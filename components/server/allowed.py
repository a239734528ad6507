"""The allowed routes: what the page and the documented endpoints request. Others get 404.

Routes that a newer Gradio adds stay closed until they are listed here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

GRADIO = "/gradio_api"
PAGE = (
    "GET /",
    "HEAD /",
    "GET /healthz",
    "GET /theme.css",
    "GET /favicon.ico",
    "GET /modules/{version}/{name:path}",
    "GET /static/{path:path}",
    "GET /assets/{path:path}",
    f"GET {GRADIO}/startup-events",
    f"GET {GRADIO}/theme.css",
    f"GET {GRADIO}/file={{path_or_url:path}}",
    f"HEAD {GRADIO}/file={{path_or_url:path}}",
    f"GET {GRADIO}/heartbeat/{{session_hash}}",
    f"GET {GRADIO}/queue/data",
    f"GET {GRADIO}/upload_progress",
    f"GET {GRADIO}/info",
    f"GET {GRADIO}/app_id",
    f"POST {GRADIO}/queue/join",
    f"POST {GRADIO}/run/predict",
    f"POST {GRADIO}/upload",
    f"POST {GRADIO}/cancel",
    f"POST {GRADIO}/reset",
)
CLIENTS = (  # gradio_client, curl and what "Use via API" shows
    "GET /config",
    f"GET {GRADIO}/queue/status",
    f"POST {GRADIO}/call/{{api_name}}",
    f"GET {GRADIO}/call/{{api_name}}/{{event_id}}",
    f"POST {GRADIO}/call/v2/{{api_name}}",
    f"GET {GRADIO}/call/v2/{{api_name}}/{{event_id}}",
)
MCP = tuple(f"{method} {GRADIO}/mcp/{{rest:path}}" for method in ("GET", "POST", "DELETE"))
ALLOWED = PAGE + CLIENTS
KINDS = {"api_name": "(?:ask|compress|compare)"}  # the events of the page have names, too
LONGEST = 255  # bytes of one name in a path


def matcher(allowed: Iterable[str]) -> Callable[[str, str], bool]:
    """Whether a method and a decoded path are one of ``allowed``: "METHOD /path/{name}".

    No file has a longer name than ``LONGEST``; asking the system for one is an error to Gradio.
    """
    patterns = "|".join(_pattern(entry) for entry in allowed)
    found = re.compile(patterns, re.DOTALL)

    def allows(method: str, path: str) -> bool:
        names = path.removeprefix(f"{GRADIO}/file=").encode("utf-8", "replace").split(b"/")
        return max(map(len, names)) <= LONGEST and bool(found.fullmatch(f"{method} {path}"))

    return allows


def _pattern(entry: str) -> str:
    parts = re.split(r"\{(\w+(?::path)?)\}", entry)
    between = [KINDS.get(kind, ".*" if kind.endswith(":path") else "[^/]+") for kind in parts[1::2]]
    return "".join(
        re.escape(text) + kind for text, kind in zip(parts[::2], [*between, ""], strict=True)
    )
