"""How the page is served: what keeps a public one safe and a private one offline."""

from __future__ import annotations

from typing import Any

from starlette.middleware import Middleware

from components import theme
from components.guard import Guard

MAX_UPLOAD_MB = 500
HOUR_S = 60 * 60
DELETE_CACHE = (HOUR_S, 24 * HOUR_S)  # look every hour, delete uploads and results after a day
# Gradio's sliders report the release of a pointer but not of a key: make one of the other.
HEAD = """<script>document.addEventListener("keyup", (event) => {
  const moves = /^(Arrow|Page|Home|End)/.test(event.key);
  if (moves && event.target.matches?.("#gv-settings input[type=range]"))
    event.target.dispatchEvent(new PointerEvent("pointerup", { bubbles: true }));
});</script>"""


def options(host: str, port: int | None, share: bool) -> dict[str, Any]:
    """Arguments of ``Blocks.launch``."""
    return {
        "server_name": host,
        "server_port": port,
        "share": share,
        "theme": theme.build(),
        "css_paths": theme.STYLES,
        "head": HEAD,
        "max_file_size": f"{MAX_UPLOAD_MB}mb",
        "max_threads": 16,
        "allowed_paths": [],
        "run_history": False,
        "enable_monitoring": False,
        "ssr_mode": False,
        "show_error": False,
        "footer_links": ["settings"],
        "app_kwargs": {"docs_url": None, "redoc_url": None, "middleware": [Middleware(Guard)]},
    }
