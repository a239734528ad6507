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


def matcher(allowed: Iterable[str]) -> Callable[[str, str], bool]:
    """Whether a method and a decoded path are one of ``allowed``: "METHOD /path/{name}"."""
    patterns = "|".join(_pattern(entry) for entry in allowed)
    found = re.compile(patterns, re.DOTALL)
    return lambda method, path: found.fullmatch(f"{method} {path}") is not None


def _pattern(entry: str) -> str:
    parts = re.split(r"\{\w+(:path)?\}", entry)
    kinds = {":path": ".*", None: "[^/]+"}
    between = [kinds[kind] for kind in parts[1::2]]
    return "".join(
        re.escape(text) + kind for text, kind in zip(parts[::2], [*between, ""], strict=True)
    )
