"""Start the app: print a line, then serve the page. Slow imports come last."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gleanvid.cli import model_options
from gleanvid.errors import ModelError, closed_pipe
from gleanvid.later import import_later
from gleanvid.serving.vllm import send_key_to

from .jobs import local as loading
from .options import parse

if TYPE_CHECKING:
    from gradio import Blocks

    from .jobs.engine import Engine
    from .jobs.recorded import Shelf
    from .models.choosing import Choosing

FILES = 4096  # open files of a public server: idle connections count until a proxy cuts them
STARTING = "Starting GleanVID ..."
KEPT = ("TEMP_DIR", "SERVER_NAME", "SERVER_PORT", "NUM_PORTS", "ROOT_PATH", "ANALYTICS_ENABLED")


def how_to_load(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Return the keyword arguments of ``load_model`` for each model, by the model's name.

    The built-in models run on the device of the model that ``--model`` names.
    """
    device = {"device": options.device}
    own = {options.model: model_options.loading(options)}
    return {loading.BUILT_IN: device, loading.PHOTOS: device} | own


def names(options: argparse.Namespace) -> list[str]:
    """Return the models in the menu: of ``--model`` and ``--offer``, then the built-in ones."""
    here = loading.BUILT_IN, loading.PHOTOS
    return list(dict.fromkeys([options.model, *options.offer, *here]))


def available(options: argparse.Namespace) -> list[str]:
    """Return the models of the menu that can answer as soon as the page is served.

    A public server has loaded them all. A private server leaves out models that it has to download:
    the user loads them on the page, which shows progress and does not hold the model queue.
    """
    from .server import serving

    if serving.is_public(options):
        return names(options)
    return [name for name in names(options) if loading.is_here(name)]


def report_choice(choosing: Choosing) -> None:
    """Print a line for each stage of downloading and loading the model of ``--model``."""
    show = stage_printer()
    for now in choosing.progress():
        show(now.stage, now.text)


def stage_printer() -> Callable[..., None]:
    """Return a function that prints a line when a new stage of loading a model begins.

    It prints nothing on the progress within a stage.
    """
    printed = ""

    def show(_: str, text: str, *__: float) -> None:
        nonlocal printed
        sentence = text.partition(":")[0]  # drop the progress, as in "Downloading NAME: 3 of 5 MB"
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
    except BrokenPipeError:
        sys.exit(closed_pipe())


def serve(options: argparse.Namespace) -> None:
    """Serve the page until the program is ended; ``options``: result of ``parse``."""
    if hasattr(sys.stdout, "reconfigure"):  # print each line at once, even into a log file
        sys.stdout.reconfigure(line_buffering=True)
    print(STARTING, flush=True)
    drop_variables()
    # Gradio reads this variable only when it is imported, so set it before.
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    import_later("torch")  # torch is imported with the first model, in the background
    from .server import serving, uploads

    reserve_files(options)
    choose_model(options)
    for name in names(options):
        send_key_to(name)
    with uploads.exit_on_signals(), uploads.own_folder():
        engine = make_engine(options)
        choosing = None if serving.is_public(options) else make_choosing(engine, options)
        page = make_page(engine, choosing, options)
        run(page, options)
        # The model is loaded only now, because loading would slow down the start of the page.
        engine.warm_up(available(options)[0])
        if choosing and choosing.first:
            choosing.start()
            threading.Thread(target=report_choice, args=[choosing], daemon=True).start()
        page.block_thread()


def reserve_files(options: argparse.Namespace) -> None:
    """Allow this process ``FILES`` open files; end it with a sentence if a public one cannot."""
    from .server import serving

    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    most = FILES if hard == unlimited else min(FILES, hard)
    if soft != unlimited and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if most < FILES and serving.is_public(options):
        sys.exit(
            f"A public server needs {FILES:,} open files, and this system allows it {most:,}. "
            f"Type: ulimit -n {FILES} (as root, or set LimitNOFILE={FILES} for its service)"
        )


def choose_model(options: argparse.Namespace) -> None:
    """Replace ``--model auto`` by the model recommended for this machine, and print why."""
    from .models.offers import recommended

    if options.model == "auto":
        options.model, reason = recommended(options.device)
        print(f"* {reason}", flush=True)


def drop_variables() -> None:
    """Delete Gradio's environment variables except ``KEPT``.

    Other variables could let Gradio serve more folders, or switch off the app's limits. They may
    have been set for another Gradio application on this machine.
    """
    for name in [name for name in os.environ if name.startswith("GRADIO_")]:
        if name.removeprefix("GRADIO_") not in KEPT:
            del os.environ[name]


def make_engine(options: argparse.Namespace) -> Engine:
    """Return the engine that runs the models.

    On a public server, all models of the menu are loaded first.
    """
    from .jobs.engine import Engine
    from .jobs.queue import ModelQueue
    from .jobs.recorded import RecordedBackend
    from .models.choosing import load_all
    from .server import serving, zero

    limits, shelf = serving.limits(options), find_recordings(options)
    others = {"device": options.device, "device_map": options.device_map}
    backend = zero.on_zero_gpu(loading.LocalBackend(how_to_load(options), others))
    is_public, offered = serving.is_public(options), available(options)
    engine = Engine(
        RecordedBackend(backend, shelf) if shelf else backend,
        queue=ModelQueue(limits.deadline_s, limits.places),
        most_models=len(offered) if is_public else 1,
    )
    if is_public:
        load_all(engine, offered, options.device, stage_printer())
    return engine


def find_recordings(options: argparse.Namespace) -> Shelf | None:
    """Return the recordings in the folder of ``--recordings``; none without this option."""
    from .jobs.recorded import Shelf

    return Shelf(options.recordings) if options.recordings else None


def make_choosing(engine: Engine, options: argparse.Namespace) -> Choosing:
    """Return the object that loads further models when a page asks for them.

    It also loads the model of ``--model`` if that has to be downloaded.
    """
    from .models.choosing import Choosing

    first = "" if loading.is_here(options.model) else options.model
    offered = [name for name in names(options) if name != loading.PHOTOS]
    return Choosing(engine, offered, options.device, first)


def make_page(engine: Engine, choosing: Choosing | None, options: argparse.Namespace) -> Blocks:
    from .jobs import examples
    from .jobs.display import menu_name
    from .page.page import BUILT_IN_MODEL, PHOTO_MODEL, build_app
    from .places import as_served
    from .server import serving

    labels = {name: label for label, name in (BUILT_IN_MODEL, PHOTO_MODEL)}
    models = [(labels.get(name) or menu_name(name), name) for name in available(options)]
    shelf = find_recordings(options)
    return build_app(
        engine,
        models,
        examples.examples(as_served(examples.FOLDER)),
        serving.limits(options),
        choosing,
        shelf.entries() if shelf else [],
        loading.served(options.model),
    )


def run(page: Blocks, options: argparse.Namespace) -> None:
    """Start serving the page, and print how the process that decodes clips is sandboxed."""
    from .server import serving

    limits = serving.limits(options)
    where = options.host, options.port, options.share, limits
    reached = options.allow_host, options.mcp, options.root_path
    proxies = serving.trusted(options.share, options.trusted_proxy)
    serving.start(page, serving.options(*where, *reached), limits, proxies)
    print(serving.decoding(limits), flush=True)
