"""The GleanVID app: ask a video, see which of its tokens were kept.

``build_app`` lays out the panels in reading order; ``components.panels.wiring`` connects them.
The app lives in ``components``, everything about models, compressors and videos in ``gleanvid``.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # Gradio reads it on import only

import gradio as gr

from components.panels import about, clip, compare, curves, export, link, settings, status, talk
from components.panels.page import Page
from components.panels.wiring import wire
from components.panels.wiring.question import stopping
from components.server import api, serving, zero
from components.session import first, loading
from components.session.engine import Engine
from components.session.line import Line
from components.viewer.component import MaskViewer
from gleanvid.cli import options as shared
from gleanvid.compressors import COMPRESSORS

BUILT_IN = ("Built-in (tiny)", "builtin")
HEADER = "<h1>GleanVID</h1><p>Ask a video. See which of its tokens the model was given.</p>"
CLOSE_ON_PHONES = "() => ({__type__: 'update', open: window.innerWidth > 1000})"


def build_app(
    engine: Engine,
    models: Sequence[tuple[str, str]] = (BUILT_IN,),
    examples: Sequence[clip.Example] = (),
    limits: serving.Limits = serving.LOCAL,
) -> gr.Blocks:
    """The whole page. ``models`` are (label, name) pairs, the first one chosen."""
    gr.set_static_paths([first.FOLDER, *clip.files(examples)])
    opening = first.load()
    question = opening.question or (examples[0].question if examples else "")
    start = {"model": models[0][1], "compressor": "gleanvid"}
    with gr.Blocks(title="GleanVID", fill_width=True, delete_cache=limits.delete_cache) as blocks:
        with gr.Sidebar(width=300, elem_id="gv-settings") as sidebar:
            chosen = settings.panel(COMPRESSORS, models, limits.max_frames, start)
            link.button()
        with gr.Row(elem_id="gv-top"):
            gr.HTML(HEADER, elem_id="gv-header")
            line = status.panel(status.pairs(engine))
        with gr.Row(elem_id="gv-columns"):
            with gr.Column(scale=5, min_width=320):
                source = clip.panel(examples, limits.upload_mb, limits.max_frames)
                words = talk.panel(question, opening.turns)
            with gr.Column(scale=8, min_width=320), gr.Tabs() as tabs:
                with gr.Tab("Tokens", id="Tokens"):
                    frames = MaskViewer(opening.viewer, elem_id="gv-tokens")
                with gr.Tab("Curves", id="Curves"):
                    plots = curves.panel(opening.figures)
                with gr.Tab("Compare", id="Compare"):
                    methods = compare.panel(COMPRESSORS)
                with gr.Tab("Export and API", id="Export and API"):
                    files = export.panel()
                with gr.Tab("About", id="About"):
                    about.panel()
        state = gr.State([]), gr.State(opening.turns), gr.State("Tokens")
        page = Page(chosen, line, source, words, frames, plots, methods, files, *state)
        wire(engine, page, examples, tabs, blocks)
        api.publish(engine, [name for _, name in models], limits.max_frames)
        blocks.load(None, None, [sidebar], js=CLOSE_ON_PHONES)
        blocks.unload(stopping(engine))
    return blocks


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Ask a video, see which tokens were kept.")
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 for the local network")
    add("--port", type=int, help="default: the first free one from 7860")
    add("--public", action="store_true", help="tighter limits, for a host that strangers reach")
    add("--max-frames", type=int, help="upper end of the frames slider")
    add("--deadline", type=float, help="seconds after which a run is ended")
    add("--root-path", help="path under which a reverse proxy shows the app, e.g. /gleanvid")
    add("--share", action="store_true", help="a public address through Gradio")
    add("--mcp", action="store_true", help="serve the endpoints as MCP tools: gleanvid[mcp]")
    shared.add_model(parser)  # offered beside the built-in one
    options = parser.parse_args(arguments)
    if options.mcp and find_spec("mcp") is None:
        parser.error("--mcp needs one more package: pip install 'gleanvid[mcp]'")
    return options


def how_to_load(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Keywords of ``load_model`` by name: the built-in model beside another shares its device."""
    return {BUILT_IN[1]: {"device": options.device}} | {options.model: shared.loading(options)}


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    limits = serving.limits(options)
    library = zero.lent(loading.library(how_to_load(options)))
    engine = Engine(library, line=Line(limits.deadline_s, limits.places))
    given = options.model != BUILT_IN[1]
    models = ([(options.model, options.model)] if given else []) + [BUILT_IN]
    # Gradio empties its folder when a server stops: a shared one would break the others' pages.
    with tempfile.TemporaryDirectory(prefix="gleanvid-", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("GRADIO_TEMP_DIR", folder)
        page = build_app(engine, models, clip.examples(), limits)
        engine.warm_up(models[0][1])
        launch = serving.options(options.host, options.port, options.share, limits)
        launch |= {"root_path": options.root_path, "mcp_server": options.mcp}
        page.queue(max_size=limits.queue).launch(**launch)


if __name__ == "__main__":
    main()
