"""Starts the app: options, a line at once, then the page. What takes seconds is imported last."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gleanvid.cli import options as shared
from gleanvid.later import import_later

from .server.hosts import networks
from .session.work import local as loading
from .session.work.reading import DECODERS

if TYPE_CHECKING:
    from .session.choice.choosing import Choosing

STARTING = "Starting GleanVID ..."


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the app, those of the model among them."""
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 for the local network")
    add("--port", type=int, help="default: the first free one from 7860")
    add("--public", action="store_true", help="tighter limits, for a host that strangers reach")
    add("--max-frames", type=int, help="upper end of the frames slider")
    add("--deadline", type=float, help="seconds after which a run is ended")
    add("--decoders", type=int, default=DECODERS, help="clips that are read at the same time")
    add("--allow-host", action="append", default=[], metavar="NAME", help="a name it is reached by")
    add(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="a proxy, or a network of them, whose X-Forwarded headers are believed",
    )
    add("--root-path", help="path under which a reverse proxy shows the app, e.g. /gleanvid")
    add("--share", action="store_true", help="a public address through Gradio")
    add("--mcp", action="store_true", help="serve the endpoints as MCP tools: gleanvid[mcp]")
    add(
        "--offer",
        nargs="+",
        action="extend",
        default=[],
        metavar="ID",
        help="further models to load on the page; on a public server there are no others",
    )
    add(
        "--recordings", type=Path, metavar="FOLDER", help="what `gleanvid record` wrote, to look at"
    )
    shared.add_model(parser)  # offered beside the built-in one


def check(options: argparse.Namespace) -> None:
    """Raises ``ValueError`` for options that cannot be."""
    if options.mcp and find_spec("mcp") is None:
        raise ValueError("--mcp needs one more package: pip install 'gleanvid[mcp]'")
    if options.recordings is not None and not options.recordings.is_dir():
        raise ValueError(f"--recordings={options.recordings} is not a folder")
    if options.port is not None and not 0 <= options.port <= 65535:
        raise ValueError(f"--port={options.port} must be 0 to 65535")
    if options.decoders < 1:
        raise ValueError(f"--decoders={options.decoders} must be at least 1")
    try:
        networks(options.trusted_proxy)
    except ValueError as error:
        text = f"--trusted-proxy: {error}; give an address such as 10.0.0.5 or 10.0.0.0/8"
        raise ValueError(text) from error


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options of a command line; ends the program where they cannot be."""
    parser = argparse.ArgumentParser(description="Ask a video, see which tokens were kept.")
    add_options(parser)
    options = parser.parse_args(arguments)
    try:
        check(options)
    except ValueError as error:
        parser.error(str(error))
    return options


def how_to_load(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Keywords of ``load_model`` by name: the built-in model beside another shares its device."""
    return {loading.BUILT_IN: {"device": options.device}} | {options.model: shared.loading(options)}


def names(options: argparse.Namespace) -> list[str]:
    """The models in the menu, the first one chosen: that of ``--model``, those of ``--offer``."""
    return list(dict.fromkeys([options.model, *options.offer, loading.BUILT_IN]))


def at_once(options: argparse.Namespace) -> list[str]:
    """Those of :func:`names` that may be asked at once.

    What has to be downloaded is chosen first: a question would fetch it within its turn at the
    model, without progress, and without a look at memory, disk and digests.
    """
    return [name for name in names(options) if loading.is_here(name)]


def tell(choosing: Choosing) -> None:
    """A line in the terminal for each stage of the model that is brought at the start."""
    stage = ""
    for now in choosing.progress():
        if now.stage != stage:
            print(f"* {now.text}", flush=True)
        stage = now.stage


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the page until the program is ended."""
    serve(parse(arguments))


def serve(options: argparse.Namespace) -> None:
    """Serve the page as checked options say, until the program is ended."""
    if hasattr(sys.stdout, "reconfigure"):  # lines appear at once, also in a log
        sys.stdout.reconfigure(line_buffering=True)
    print(STARTING, flush=True)
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # Gradio reads it on import only
    import_later("torch")  # loaded with the model, behind the page
    from .panels.page import BUILT_IN_MODEL, build_app
    from .server import leaving, serving, zero
    from .session import examples
    from .session.choice.choosing import PAUSE_S, Choosing
    from .session.display import menu_name
    from .session.work.engine import Engine
    from .session.work.queue import Line
    from .session.work.recorded import RecordedBackend, Shelf

    limits = serving.limits(options)
    others = {"device": options.device, "device_map": options.device_map}
    backend = zero.on_zero_gpu(loading.LocalBackend(how_to_load(options), others))
    line = Line(limits.deadline_s, limits.places)
    shelf = Shelf(options.recordings) if options.recordings else None
    strict = serving.is_public(options)
    holding: dict[str, Any] = {
        "room": partial(loading.has_room, device=options.device),
        "stay_s": PAUSE_S,
    }
    engine = Engine(
        RecordedBackend(backend, shelf) if shelf else backend,
        line=line,
        decoders=options.decoders,
        **(holding if strict else {}),
    )
    labels = dict([BUILT_IN_MODEL[::-1]])
    here = at_once(options)
    models = [(labels.get(name, menu_name(name)), name) for name in here]
    first = "" if options.model in here else options.model
    with leaving.orderly(), leaving.own_folder() as folder:
        os.environ.setdefault("GRADIO_TEMP_DIR", folder)
        choosing = Choosing(engine, names(options), strict, options.device, first)
        recordings = shelf.entries() if shelf else []
        choice = choosing if options.offer or first or not strict else None
        served = loading.served(options.model)
        page = build_app(engine, models, examples.examples(), limits, choice, recordings, served)
        reached, proxies = options.allow_host, options.trusted_proxy
        where = options.host, options.port, options.share
        launch = serving.options(*where, limits, reached, proxies, options.mcp)
        launch |= {"root_path": options.root_path}
        serving.start(page, launch, limits)
        print(serving.decoding(limits), flush=True)
        engine.warm_up(here[0])  # not earlier: it would take the processor from the page
        if first:
            choosing.start()
            threading.Thread(target=tell, args=[choosing], daemon=True).start()
        page.block_thread()
