"""How the page is served: what keeps a public one safe and a private one offline."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from components import theme
from components.guard import Guard

HOUR_S = 60 * 60
DELETE_CACHE = (HOUR_S, 24 * HOUR_S)  # look every hour, delete uploads and results after a day
ROOT = Path(__file__).resolve().parent.parent
SPACE_FRAMES = " https://huggingface.co https://*.hf.space"  # pages that show a Space
SCRIPT = (ROOT / "assets" / "page.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Limits:
    """What one page may ask of the server."""

    upload_mb: int
    max_frames: int
    deadline_s: float  # of one turn at the model
    places: int  # people who may wait for the model
    queue: int  # events that Gradio holds
    requests_per_minute: int  # of one address that change something; 0: no limit


LOCAL = Limits(500, 64, 600.0, 16, 40, 0)
PUBLIC = Limits(200, 32, 90.0, 12, 40, 120)


def on_space() -> bool:
    """Whether this runs on a Hugging Face Space."""
    return bool(os.environ.get("SPACE_ID"))


def limits(options: argparse.Namespace) -> Limits:
    """The limits of a launch: those of its kind, changed by what was given."""
    given = {"max_frames": options.max_frames, "deadline_s": options.deadline}
    chosen = PUBLIC if options.public or options.share or on_space() else LOCAL
    return replace(chosen, **{name: value for name, value in given.items() if value is not None})


def options(host: str, port: int | None, share: bool, limits: Limits = LOCAL) -> dict[str, Any]:
    """Arguments of ``Blocks.launch``."""
    frames = SPACE_FRAMES if on_space() else ""
    guard = Middleware(Guard, requests_per_minute=limits.requests_per_minute, framed_by=frames)
    return {
        "server_name": "0.0.0.0" if on_space() else host,
        "server_port": port,
        "share": share,
        "theme": theme.build(),
        "css_paths": theme.STYLES,
        "head": f"<script>{SCRIPT}</script>",
        "max_file_size": f"{limits.upload_mb}mb",
        "max_threads": 40,
        "allowed_paths": [],
        "blocked_paths": [str(ROOT / name) for name in ("app.py", "components", "gleanvid")],
        "run_history": False,
        "enable_monitoring": False,
        "ssr_mode": False,
        "show_error": False,
        "footer_links": ["api", "settings"],
        "app_kwargs": {
            "docs_url": None,
            "redoc_url": None,
            "middleware": [guard],
            "routes": [Route("/healthz", health)],
        },
    }


async def health(request: Request) -> JSONResponse:
    """Says that the server answers; asks nothing of the model."""
    return JSONResponse({"status": "ok"})
