"""Launch options and limits of the server, for a private and for a public page."""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import logging
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
import matplotlib as mpl
from gradio.utils import get_upload_folder
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool

from gleanvid.video.isolation import rights, sandbox, spare

from ..places import ASSETS, ROOT
from ..viewer import modules
from . import gradio_patches, routes, theme
from .allowed import ALLOWED, MCP
from .connections import BODY_S, limit_connections
from .guard import Guard
from .uploads import LOCK, MIB, Uploads, delete_old
from .visitors import PRIVATE, Proxies, RateLimit, bracketed, networks

HOUR_S = 60 * 60
SWEEP_S = 15.0
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
    requests_per_minute: int  # maximum POST requests a minute of one visitor; 0: no limit
    disk_gb: int  # maximum GB of all visitors' files together; 0: no limit
    visitor_mb: int  # MB of uploads of one visitor, see `shares`; 0: no limit
    keep_s: int  # age in seconds at which uploads and results are deleted


LOCAL = Limits(4000, 64, 600.0, 16, 40, 0, 0, 0, 0, 24 * HOUR_S)
PUBLIC = Limits(200, 32, 90.0, 12, 40, 6, 600, 20, 1024, 2 * HOUR_S)


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


def shares(limits: Limits) -> RateLimit | None:
    """Return the rate limit on one visitor's uploads, in bytes; None for no limit.

    With it, the uploads of one visitor take at most twice ``visitor_mb`` on the server's disk.
    """
    # Longest time that an upload takes disk space: BODY_S to send it, then keep_s to its deletion.
    held_s = BODY_S + limits.keep_s
    return RateLimit(limits.visitor_mb * MIB, held_s) if limits.visitor_mb else None


@dataclass(frozen=True)
class Guarded:
    """Lifespan of the application: installs ``Guard`` in front of all Gradio middleware.

    ``Guard`` limits size, rate and origin of requests. Middleware that is passed to Gradio would
    run only after Gradio's own CORS middleware. Old files are deleted while the server runs.
    """

    guard: partial[Guard]
    keep_s: int

    @asynccontextmanager
    async def __call__(self, app: Starlette) -> AsyncIterator[None]:
        gradio_patches.apply(app)
        # Replace Starlette's ServerErrorMiddleware, the outermost one, by `Guard`.
        outermost: Any = app.middleware_stack
        under_way = partial(gradio_patches.addresses, app)
        app.middleware_stack = self.guard(outermost.app, under_way=under_way)
        sweeping = asyncio.create_task(sweep(app, self.keep_s))
        yield
        sweeping.cancel()
        delete_old(Path(get_upload_folder()), 0.0)


async def sweep(app: Starlette, keep_s: int) -> None:
    """Every ``SWEEP_S`` seconds, delete old files, unused sessions and unfetched results."""
    acts = (
        partial(delete_old, Path(get_upload_folder()), keep_s),
        partial(gradio_patches.forget_files, app),
        free_memory,
    )
    while True:
        await asyncio.sleep(SWEEP_S)
        try:
            gradio_patches.forget(app)
            for act in acts:
                await run_in_threadpool(act)
        except Exception:  # the loop goes on and tries to delete the files again
            logging.getLogger(__name__).exception("Deleting old files failed.")


def free_memory() -> None:
    """Return freed memory to Linux: the C library keeps memory that threads have freed.

    Without this, hundreds of questions add up to tens of megabytes.
    """
    if sys.platform == "linux":
        with suppress(AttributeError):  # the C library is not glibc
            ctypes.CDLL(None).malloc_trim(0)


def start(page: gr.Blocks, launch: dict[str, Any], limits: Limits = LOCAL) -> None:
    """Launch a page with the arguments of :func:`options`; return without waiting for its end."""
    # Otherwise Gradio computes statistics of up to 10,000 events after every event.
    os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(10**9))
    page.queue(max_size=limits.queue, api_open=False)  # API calls cannot bypass the queue
    proxies = launch["app_kwargs"]["lifespan"].guard.keywords["proxies"]
    page.launch(**launch, prevent_thread_lock=True)
    # Set matplotlib's backend now: otherwise Gradio imports pyplot while the first visitor waits.
    mpl.use("agg")
    limit_connections(page.server, proxies)


def reached_by(
    host: str, share: bool, names: Sequence[str], proxies: Sequence[str]
) -> tuple[list[str], Proxies]:
    """Return the host names under which this server is reached, and the proxies it trusts."""
    own, trusted = [bracketed(host)], [*proxies]
    if share:  # Gradio's tunnel connects from this machine
        own, trusted = [*own, "*.gradio.live"], [*trusted, "127.0.0.1"]
    if on_space():  # only the platform's proxy can reach a Space
        own += os.environ.get("SPACE_HOST", "*.hf.space").split(",")
        trusted += PRIVATE
    return [name.strip() for name in [*own, *map(bracketed, names)]], Proxies(networks(trusted))


def options(
    host: str,
    port: int | None,
    share: bool,
    limits: Limits = LOCAL,
    names: Sequence[str] = (),
    proxies: Sequence[str] = (),
    mcp: bool = False,
    root_path: str | None = None,
) -> dict[str, Any]:
    """Return arguments of ``Blocks.launch``.

    ``names``: further host names of this server; ``proxies``: trusted proxies.
    """
    own, trusted = reached_by(host, share, names, proxies)
    guard = partial(
        Guard,
        requests_per_minute=limits.requests_per_minute,
        framed_by=SPACE_FRAMES if on_space() else "",
        uploads=Uploads(limits.upload_mb * MIB, limits.disk_gb * 1024 * MIB, shares(limits)),
        hosts=own,
        proxies=trusted,
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
        "allowed_paths": [],
        "blocked_paths": closed(),
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
            "lifespan": Guarded(guard, limits.keep_s),
            "routes": routes.own(),
        },
    }


def decoding(limits: Limits) -> str:
    """Return a text on the limits of decoding processes; start one for the first clip."""
    layers = sandbox.layers()
    spare.KEPT.keep()
    lacking = [text for name, text in rights.LAYERS.items() if name not in layers]
    limits_text = "; ".join(rights.LAYERS[name] for name in layers) or "nothing limits it"
    line = f"* Clips are decoded in a separate process: {limits_text}."
    if lacking:
        line += f"\n* MISSING on this system: {'; '.join(lacking)}."
        if limits is not LOCAL:
            line += " Run this server in a virtual machine before you open it to strangers."
    return line


def closed() -> list[str]:
    """Return what Gradio must not serve: all of ``ROOT`` but ``assets``, and the lock file."""
    files = Path(get_upload_folder()).resolve()
    beside = [path for path in sorted(ROOT.iterdir()) if path.name != "assets"]
    return [str(path) for path in (*beside, files / LOCK) if not files.is_relative_to(path)]
