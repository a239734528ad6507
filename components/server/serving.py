"""Launch options and limits of the server, for a private page and for a public one."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
import matplotlib as mpl
from gradio.utils import get_upload_folder
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gleanvid.video.isolation import rights, sandbox, spare

from ..places import ASSETS, ROOT
from ..session.work.rates import RateLimit
from ..viewer import modules
from . import memory, sessions, theme
from .connections import watch
from .disk import MIB, Uploads
from .guard import Guard
from .hosts import PRIVATE, Hosts, networks
from .leaving import LOCK
from .routes import ALLOWED, MCP

HOUR_S = 60 * 60
SWEEP_S = 15.0
SPACE_FRAMES = " https://huggingface.co https://*.hf.space"  # pages that show a Space
SCRIPT = "\n".join(path.read_text("utf-8") for path in sorted(ASSETS.glob("page/*.js")))


@dataclass(frozen=True)
class Limits:
    """What one page may ask of the server."""

    upload_mb: int
    max_frames: int
    deadline_s: float  # of one turn at the model
    places: int  # people who may wait for the model
    queue: int  # events that Gradio holds
    events: int  # of one address, at once; 0: no limit
    requests_per_minute: int  # of one address that change something; 0: no limit
    disk_gb: int  # all files of visitors together; 0: no limit
    visitor_mb: int  # that one address may bring at once, and again within ``keep_s``; 0: no limit
    keep_s: int  # age at which uploads and results are deleted
    may_check: bool = False  # whether a visitor may have the model checked, which takes minutes

    @property
    def delete_cache(self) -> tuple[int, int]:
        """How often Gradio looks for old files, and their age."""
        return max(1, self.keep_s // 24), self.keep_s


LOCAL = Limits(500, 64, 600.0, 16, 40, 0, 0, 0, 0, 24 * HOUR_S, may_check=True)
PUBLIC = Limits(200, 32, 90.0, 12, 40, 6, 600, 20, 1024, 2 * HOUR_S)


def on_space() -> bool:
    """Whether this runs on a Hugging Face Space."""
    return bool(os.environ.get("SPACE_ID"))


def is_public(options: argparse.Namespace) -> bool:
    """Whether strangers reach what this launch serves."""
    return bool(options.public or options.share or on_space())


def limits(options: argparse.Namespace) -> Limits:
    """The limits of a launch: those of its kind, changed by what was given."""
    given = {"max_frames": options.max_frames, "deadline_s": options.deadline}
    chosen = PUBLIC if is_public(options) else LOCAL
    return replace(chosen, **{name: value for name, value in given.items() if value is not None})


def shares(limits: Limits) -> RateLimit | None:
    """The bytes that each visitor may upload; at no time does one hold more than twice as much."""
    return RateLimit(limits.visitor_mb * MIB, limits.keep_s) if limits.visitor_mb else None


@dataclass(frozen=True)
class Guarded:
    """A lifespan that puts the guard around the whole application, before it listens.

    Gradio surrounds every middleware it is given with its own answers to other sites (CORS).
    """

    guard: partial[Guard]

    @asynccontextmanager
    async def __call__(self, app: Starlette) -> AsyncIterator[None]:
        sessions.bound(app)
        inside: Any = app.middleware_stack
        app.middleware_stack = self.guard(inside, under_way=partial(sessions.visitors, app))
        sweeping = asyncio.create_task(swept(app, self.guard.keywords["uploads"]))
        yield
        sweeping.cancel()


async def swept(app: Starlette, uploads: Uploads) -> None:
    """Delete what uploads and sessions leave behind, again and again."""
    while True:
        await asyncio.sleep(SWEEP_S)
        try:
            sessions.forget(app)
            for act in (uploads.sweep, partial(sessions.forget_gone, app), memory.give_back):
                await run_in_threadpool(act)
        except Exception:  # the next round has to come
            logging.getLogger(__name__).exception("Sweeping failed.")


def start(page: gr.Blocks, launch: dict[str, Any], limits: Limits = LOCAL) -> None:
    """Launch a page with these options of :func:`options`; returns while it is served."""
    # Gradio reads it as it makes the queue: no statistics of 10,000 events after each of them.
    os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(10**9))
    page.queue(max_size=limits.queue, api_open=False)  # nothing passes by the queue
    hosts = launch["app_kwargs"]["lifespan"].guard.keywords["hosts"]
    page.launch(**launch, prevent_thread_lock=True)
    # Else Gradio imports pyplot, to look for a window system, while the first visitor waits.
    mpl.use("agg")
    watch(page.server, hosts)


def hosts(host: str, share: bool, names: Sequence[str], proxies: Sequence[str]) -> Hosts:
    """The names to answer to: those given and what this launch is reached by."""
    own = [host.strip("[]")]
    if share:  # the tunnel ends on this machine
        own, proxies = [*own, "*.gradio.live"], [*proxies, "127.0.0.1"]
    if on_space():  # nothing but the platform's own proxy reaches a Space
        own += os.environ.get("SPACE_HOST", "*.hf.space").split(",")
        proxies = [*proxies, *PRIVATE]
    return Hosts(tuple(name.strip().lower() for name in [*own, *names]), networks(proxies))


def bracketed(host: str) -> str:
    """An address as it stands in the address of a page."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def options(
    host: str,
    port: int | None,
    share: bool,
    limits: Limits = LOCAL,
    names: Sequence[str] = (),
    proxies: Sequence[str] = (),
    mcp: bool = False,
) -> dict[str, Any]:
    """Arguments of ``Blocks.launch``. ``names``: further hosts; ``proxies``: addresses believed."""
    guard = partial(
        Guard,
        requests_per_minute=limits.requests_per_minute,
        framed_by=SPACE_FRAMES if on_space() else "",
        uploads=Uploads(limits.upload_mb * MIB, limits.disk_gb * 1024 * MIB, shares(limits)),
        hosts=hosts(host, share, names, proxies),
        routes=ALLOWED + (MCP if mcp else ()),
        events=limits.events,
    )
    return {
        "mcp_server": mcp,
        "server_name": "0.0.0.0" if on_space() else bracketed(host),
        "server_port": port,
        "share": share,
        "theme": theme.build(),
        "css_paths": theme.STYLES,
        "head": f"<script>{SCRIPT}</script>{modules.early()}",
        "max_file_size": f"{limits.upload_mb}mb",
        "max_threads": 40,
        "allowed_paths": [],
        "blocked_paths": closed(),
        "run_history": False,
        "enable_monitoring": False,
        "ssr_mode": False,
        "show_error": False,
        "footer_links": ["api", "settings"],
        "app_kwargs": {
            "docs_url": None,
            "redoc_url": None,
            "openapi_url": None,
            "lifespan": Guarded(guard),
            "routes": [
                Route("/healthz", health),
                Route("/modules/{version}/{name:path}", module),
            ],
        },
    }


def decoding(limits: Limits) -> str:
    """What holds the process that decodes clips, in a line; keeps one ready for the first clip."""
    layers = sandbox.layers()
    spare.KEPT.keep()
    lacking = [text for name, text in rights.LAYERS.items() if name not in layers]
    limits_text = "; ".join(rights.LAYERS[name] for name in layers) or "nothing limits it"
    line = f"* Clips are decoded in a process of its own: {limits_text}."
    if lacking:
        line += f"\n* MISSING on this system: {'; '.join(lacking)}."
        if limits is not LOCAL:
            line += " Do not open this server to strangers without a virtual machine."
    return line


def closed() -> list[str]:
    """All beside the assets: code, documents, ``.git``, and the lock; not the files of visitors."""
    files = Path(get_upload_folder()).resolve()
    beside = [path for path in sorted(ROOT.iterdir()) if path.name != "assets"]
    return [str(path) for path in (*beside, files / LOCK) if not files.is_relative_to(path)]


async def module(request: Request) -> Response:
    """A module of the page as it is now; kept by browsers, as its address changes with it."""
    wanted = request.path_params
    text = modules.TEXTS.get(wanted["name"]) if wanted["version"] == modules.VERSION else None
    if text is None:
        return Response("No such module. Load the page again.", 404)
    kept = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(text, headers=kept, media_type="text/javascript")


async def health(request: Request) -> JSONResponse:
    """Says that the server answers; asks nothing of the model."""
    return JSONResponse({"status": "ok"})
