"""Start the app: parse options, print a line, then serve the page. Slow imports come last."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gleanvid import plugins
from gleanvid.cli import options as shared
from gleanvid.errors import ModelError
from gleanvid.later import import_later

from .server.visitors import networks
from .session.work import local as loading
from .session.work.reading import DECODERS

if TYPE_CHECKING:
    from gradio import Blocks

    from .session.choice.choosing import Choosing
    from .session.work.engine import Engine
    from .session.work.recorded import Shelf

STARTING = "Starting GleanVID ..."


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the app, those of the model among them."""
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 for the local network")
    add("--port", type=int, help="port (default: the first free one from 7860)")
    add("--public", action="store_true", help="stricter limits, for a server on the internet")
    add("--max-frames", type=int, help="maximum number of frames per clip")
    add("--deadline", type=float, help="time limit of a run in seconds")
    add("--decoders", type=int, default=DECODERS, help="clips that are decoded at the same time")
    add(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="host name under which visitors reach the server; can be repeated",
    )
    add(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="address or network of a proxy whose X-Forwarded headers are trusted",
    )
    add("--root-path", help="path of the app behind a reverse proxy, e.g. /gleanvid")
    add("--share", action="store_true", help="create a public link through Gradio")
    add("--mcp", action="store_true", help="serve the endpoints as MCP tools (needs gleanvid[mcp])")
    add(
        "--offer",
        nargs="+",
        action="extend",
        default=[],
        metavar="ID",
        help="further models to choose from; a public server loads them all at its start",
    )
    add("--recordings", type=Path, metavar="FOLDER", help="folder written by `gleanvid record`")
    shared.add_model(parser)  # offered in addition to the built-in model


def check(options: argparse.Namespace) -> None:
    """Check options against each other. Raises ``ValueError``."""
    if options.mcp and find_spec("mcp") is None:
        raise ValueError("--mcp needs one more package: pip install 'gleanvid[mcp]'")
    if options.recordings is not None and not options.recordings.is_dir():
        raise ValueError(f"--recordings={options.recordings} is not a folder")
    if options.port is not None and not 0 <= options.port <= 65535:
        raise ValueError(f"--port={options.port} must be 0 to 65535")
    for name in options.allow_host:
        if name != "*" and "*" in name.removeprefix("*."):
            raise ValueError(f"--allow-host={name}: a * stands for all below: *.example.org")
    if options.decoders < 1:
        raise ValueError(f"--decoders={options.decoders} must be at least 1")
    try:
        networks(options.trusted_proxy)
    except ValueError as error:
        text = f"--trusted-proxy: {error}; give an address such as 10.0.0.5 or 10.0.0.0/8"
        raise ValueError(text) from error


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the options of a command line; ends the program where they are wrong."""
    parser = argparse.ArgumentParser(description="Ask a video, see which tokens were kept.")
    shared.load_plugins(parser, sys.argv[1:] if arguments is None else arguments)
    add_options(parser)
    options = parser.parse_args(arguments)
    try:
        check(options)
    except ValueError as error:
        parser.error(str(error))
    return options


def how_to_load(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Return the keywords of ``load_model`` by model.

    If another model is given, the built-in model runs on the same device.
    """
    device = {"device": options.device}
    own = {options.model: shared.loading(options)}
    return {loading.BUILT_IN: device, loading.PHOTOS: device} | own


def names(options: argparse.Namespace) -> list[str]:
    """Return the models in the menu: that of ``--model`` first, then those of ``--offer``."""
    here = loading.BUILT_IN, loading.PHOTOS
    return list(dict.fromkeys([options.model, *options.offer, *here]))


def available(options: argparse.Namespace) -> list[str]:
    """Return those of :func:`names` that can be asked as soon as the page is served.

    A public server has loaded all of them. On a private one, a model that has to be downloaded is
    loaded on the page first: a question would download it without showing progress, and would hold
    the model queue meanwhile.
    """
    from .server import serving

    if serving.is_public(options):
        return names(options)
    return [name for name in names(options) if loading.is_here(name)]


def report_choice(choosing: Choosing) -> None:
    """Print a line for each stage of the model that the server was started with."""
    show = stage_printer()
    for now in choosing.progress():
        show(now.stage, now.text)


def stage_printer() -> Callable[..., None]:
    """Make a function that prints stages of loading a model, without the steps within a stage."""
    printed = ""

    def show(_: str, text: str, *__: float) -> None:
        nonlocal printed
        sentence = text.partition(":")[0]  # "Downloading NAME: 3 of 5 MB"
        if sentence != printed:
            print(f"* {text}", flush=True)
        printed = sentence

    return show


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the page until the program is ended."""
    try:
        serve(parse(arguments))
    except ModelError as error:
        sys.exit(str(error))


def serve(options: argparse.Namespace) -> None:
    """Serve the page as checked options say, until the program is ended."""
    if hasattr(sys.stdout, "reconfigure"):  # lines appear at once, also in a log
        sys.stdout.reconfigure(line_buffering=True)
    print(STARTING, flush=True)
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # Gradio reads it on import only
    import_later("torch")  # loaded with the model, in the background
    from .server import serving, uploads

    if serving.is_public(options):
        plugins.ignore_installed()
    uploads.exit_on_signals()
    with uploads.own_folder():
        engine = make_engine(options)
        choosing = None if serving.is_public(options) else make_choosing(engine, options)
        page = make_page(engine, choosing, options)
        run(page, options)
        engine.warm_up(available(options)[0])  # not earlier: it would slow the page down
        if choosing and choosing.first:
            choosing.start()
            threading.Thread(target=report_choice, args=[choosing], daemon=True).start()
        page.block_thread()


def make_engine(options: argparse.Namespace) -> Engine:
    """Return the engine. On a public server, all models that its visitors may ask are loaded."""
    from .server import serving, zero
    from .session.choice.loader import load_all
    from .session.work.engine import Engine
    from .session.work.queue import ModelQueue
    from .session.work.recorded import RecordedBackend

    limits, shelf = serving.limits(options), find_recordings(options)
    others = {"device": options.device, "device_map": options.device_map}
    backend = zero.on_zero_gpu(loading.LocalBackend(how_to_load(options), others))
    is_public, offered = serving.is_public(options), available(options)
    engine = Engine(
        RecordedBackend(backend, shelf) if shelf else backend,
        queue=ModelQueue(limits.deadline_s, limits.places),
        decoders=options.decoders,
        most_models=len(offered) if is_public else 1,
    )
    if is_public:
        load_all(engine, offered, options.device, stage_printer())
    return engine


def find_recordings(options: argparse.Namespace) -> Shelf | None:
    """The recordings of ``--recordings``, if it was given."""
    from .session.work.recorded import Shelf

    return Shelf(options.recordings) if options.recordings else None


def make_choosing(engine: Engine, options: argparse.Namespace) -> Choosing:
    """Return what loads further models, the first one if it has to be downloaded."""
    from .session.choice.choosing import Choosing

    first = "" if loading.is_here(options.model) else options.model
    offered = [name for name in names(options) if name != loading.PHOTOS]
    return Choosing(engine, offered, options.device, first)


def make_page(engine: Engine, choosing: Choosing | None, options: argparse.Namespace) -> Blocks:
    """Build the page with its endpoints."""
    from .panels.page import BUILT_IN_MODEL, PHOTO_MODEL, build_app
    from .server import serving
    from .session import examples
    from .session.display import menu_name

    labels = {name: label for label, name in (BUILT_IN_MODEL, PHOTO_MODEL)}
    models = [(labels.get(name) or menu_name(name), name) for name in available(options)]
    shelf = find_recordings(options)
    return build_app(
        engine,
        models,
        examples.examples(),
        serving.limits(options),
        choosing,
        shelf.entries() if shelf else [],
        loading.served(options.model),
    )


def run(page: Blocks, options: argparse.Namespace) -> None:
    """Start to serve the page, and say what its decoding process may do."""
    from .server import serving

    limits = serving.limits(options)
    where = options.host, options.port, options.share, limits
    reached = options.allow_host, options.trusted_proxy, options.mcp, options.root_path
    serving.start(page, serving.options(*where, *reached), limits)
    print(serving.decoding(limits), flush=True)
