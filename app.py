"""The GleanVID app: ask a video, see which of its tokens were kept.

The app lives in ``components``, everything about models, compressors and videos in ``gleanvid``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from gleanvid.later import import_later

if __name__ == "__main__":  # importing Gradio takes seconds
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    print("Starting GleanVID ...")

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # Gradio reads it on import only
import_later("torch")  # loaded with the model, behind the page

from components.panels.page import BUILT_IN_MODEL, build_app
from components.server import leaving, serving, zero
from components.server.hosts import networks
from components.session import examples, loading
from components.session.engine import Engine
from components.session.line import Line
from components.session.reading import DECODERS
from gleanvid.cli import options as shared


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Ask a video, see which tokens were kept.")
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
    shared.add_model(parser)  # offered beside the built-in one
    options = parser.parse_args(arguments)
    if options.mcp and find_spec("mcp") is None:
        parser.error("--mcp needs one more package: pip install 'gleanvid[mcp]'")
    if options.decoders < 1:
        parser.error(f"--decoders={options.decoders} must be at least 1")
    try:
        networks(options.trusted_proxy)
    except ValueError as error:
        parser.error(f"--trusted-proxy: {error}; give an address such as 10.0.0.5 or 10.0.0.0/8")
    return options


def how_to_load(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Keywords of ``load_model`` by name: the built-in model beside another shares its device."""
    return {loading.BUILT_IN: {"device": options.device}} | {options.model: shared.loading(options)}


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    limits = serving.limits(options)
    library = zero.on_zero_gpu(loading.Library(how_to_load(options)))
    line = Line(limits.deadline_s, limits.places)
    engine = Engine(library, line=line, decoders=options.decoders)
    given = options.model != loading.BUILT_IN
    models = ([(options.model, options.model)] if given else []) + [BUILT_IN_MODEL]
    with leaving.orderly(), leaving.own_folder() as folder:
        os.environ.setdefault("GRADIO_TEMP_DIR", folder)
        page = build_app(engine, models, examples.examples(), limits)
        names, proxies = options.allow_host, options.trusted_proxy
        where = options.host, options.port, options.share
        launch = serving.options(*where, limits, names, proxies, options.mcp)
        launch |= {"root_path": options.root_path}
        serving.start(page, launch, limits)
        print(serving.decoding(limits), flush=True)
        engine.warm_up(models[0][1])  # not earlier: it would take the processor from the page
        page.block_thread()


if __name__ == "__main__":
    main()
