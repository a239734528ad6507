"""Launch options and limits of the server, for a private and for a public page."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gradio as gr
import matplotlib as mpl
from gradio.utils import get_upload_folder
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware

from gleanvid.video.isolation import rights, spare

from ..places import ASSETS
from ..viewer import modules
from . import gradio_patches, routes, theme
from .allowed import ALLOWED, MCP
from .guard import Guard
from .uploads import MIB, Uploads, delete_old
from .visitors import PRIVATE, bracketed, networks

HOUR_S = 60 * 60
SWEEP_S = 15.0
SESSIONS = 500  # maximum number of Gradio sessions in memory; each takes 350 KiB
CONNECTIONS = 500  # maximum number of connections; a page has up to six
SPACE_FRAMES = " https://huggingface.co https://*.hf.space"  # sites that may embed a Space
SCRIPT = "\n".join(path.read_text("utf-8") for path in sorted(ASSETS.glob("page/*.js")))


@dataclass(frozen=True)
class Limits:
    """Limits of the server for each page and visitor."""

    upload_mb: int
    max_frames: int
    deadline_s: float  # longest time of one job on the model, in seconds
    places: int  # maximum number of jobs that wait for the model
    queue: int  # maximum number of events in Gradio's queue
    events: int  # maximum number of concurrent events of one visitor; 0: no limit
    disk_gb: int  # maximum GB of all visitors' files together; 0: no limit
    visitor_mb: int  # MB that one visitor may upload in `keep_s`; 0: no limit
    keep_s: int  # age in seconds at which uploads and results are deleted


LOCAL = Limits(4000, 64, 600.0, 16, 40, 0, 0, 0, 24 * HOUR_S)
PUBLIC = Limits(200, 32, 90.0, 12, 40, 6, 20, 1024, 2 * HOUR_S)


def on_space() -> bool:
    """Whether this runs on a Hugging Face Space."""
    return bool(os.environ.get("SPACE_ID"))


def is_public(options: argparse.Namespace) -> bool:
    """Whether these launch options open the page to the public."""
    return bool(options.public or options.share or on_space())


def limits(options: argparse.Namespace) -> Limits:
    """Return the limits of a private or public server; launch options override some."""
    given = {"max_frames": options.max_frames, "deadline_s": options.deadline}
    chosen = PUBLIC if is_public(options) else LOCAL
    return replace(chosen, **{name: value for name, value in given.items() if value is not None})


def lifespan(keep_s: float) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Return the lifespan of the application: old files are deleted while the server runs."""

    @asynccontextmanager
    async def run(app: Starlette) -> AsyncIterator[None]:
        gradio_patches.apply()
        sweeping = asyncio.create_task(sweep(keep_s))
        yield
        sweeping.cancel()

    return run


async def sweep(keep_s: float) -> None:
    """Delete old files every ``SWEEP_S`` seconds."""
    while True:
        await asyncio.sleep(SWEEP_S)
        await run_in_threadpool(delete_old, Path(get_upload_folder()), keep_s)


def start(
    page: gr.Blocks, launch: dict[str, Any], limits: Limits = LOCAL, proxies: Sequence[str] = ()
) -> None:
    """Launch a page with the arguments of :func:`options`; return without waiting for its end.

    ``proxies``: networks of proxies whose ``X-Forwarded-For`` and ``-Proto`` are believed.
    """
    # Otherwise Gradio computes statistics of up to 10,000 events after every event.
    os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(10**9))
    # Uvicorn, which Gradio starts without arguments, reads this variable.
    os.environ["FORWARDED_ALLOW_IPS"] = ",".join(proxies)
    page.queue(max_size=limits.queue, api_open=False)  # API calls cannot bypass the queue
    # Results wait here until they are fetched; Gradio would keep those of 2,000 sessions.
    page._queue.pending_messages_per_session.max_size = SESSIONS
    page.launch(**launch, prevent_thread_lock=True)
    # Set matplotlib's backend now: otherwise Gradio imports pyplot while the first visitor waits.
    mpl.use("agg")
    page.server.config.limit_concurrency = CONNECTIONS


def reached_by(host: str, share: bool, names: Sequence[str]) -> list[str]:
    """Return the host names of this server; ``share``: whether Gradio's tunnel is used."""
    own = [bracketed(host), *(["*.gradio.live"] if share else [])]
    if on_space():
        own += os.environ.get("SPACE_HOST", "*.hf.space").split(",")
    return [name.strip() for name in [*own, *map(bracketed, names)]]


def trusted(share: bool, proxies: Sequence[str]) -> list[str]:
    """Return the networks of trusted proxies: ``proxies`` and, with ``share``, Gradio's tunnel."""
    own = ["127.0.0.1"] if share else []  # Gradio's tunnel connects from this machine
    # Only the platform's proxy can reach a Space.
    return [*own, *(PRIVATE if on_space() else ()), *networks(proxies)]


def options(
    host: str,
    port: int | None,
    share: bool,
    limits: Limits = LOCAL,
    names: Sequence[str] = (),
    mcp: bool = False,
    root_path: str | None = None,
) -> dict[str, Any]:
    """Return the keyword arguments of Gradio's ``Blocks.launch``.

    ``names``: further host names of this server. ``mcp``: whether to serve MCP, too.
    """
    each, every, one = (
        size * MIB for size in (limits.upload_mb, limits.disk_gb * 1024, limits.visitor_mb)
    )
    guard = Middleware(
        Guard,
        framed_by=SPACE_FRAMES if on_space() else "",
        uploads=Uploads(each, every, one, limits.keep_s),
        hosts=reached_by(host, share, names),
        routes=ALLOWED + (MCP if mcp else ()),
        events=limits.events,
    )
    return {
        "mcp_server": mcp,
        "server_name": "0.0.0.0" if on_space() else bracketed(host),
        "server_port": port,
        "share": share,
        "root_path": root_path,
        "theme": theme.build(),
        "css_paths": theme.STYLES,
        "head": f"<script>{SCRIPT}</script>{modules.early()}",
        "max_file_size": f"{limits.upload_mb}mb",
        "max_threads": 40,
        "state_session_capacity": SESSIONS,
        "allowed_paths": [],
        "run_history": False,
        "enable_monitoring": False,
        "ssr_mode": False,
        "show_error": False,
        "_frontend": False,  # else Gradio refuses to start if its own page takes over 3 s
        "footer_links": [],
        "app_kwargs": {
            "docs_url": None,
            "redoc_url": None,
            "openapi_url": None,
            "lifespan": lifespan(limits.keep_s),
            "middleware": [guard],
            "routes": routes.own(),
        },
    }


def decoding(limits: Limits) -> str:
    """Return a text on the limits of decoding processes; start one for the first clip."""
    spare.KEPT.keep()
    layers = rights.layers()
    lacking = [text for text, is_there in layers.items() if not is_there]
    limits_text = "; ".join(text for text in layers if text not in lacking) or "nothing limits it"
    line = f"* Clips are decoded in a separate process: {limits_text}."
    if lacking:
        line += f"\n* MISSING on this system: {'; '.join(lacking)}."
        if limits is not LOCAL:
            line += " Run this server in a container before you open it to strangers."
    return line
