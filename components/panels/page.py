"""The whole page: its panels in reading order, and what connects them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import gradio as gr

from components.panels import about, clip, compare, curves, export, link, settings, status, talk
from components.panels.shared import Shared, owner, previewing
from components.server import api
from components.server.serving import LOCAL, Limits
from components.session import display, first
from components.session.engine import Engine
from components.session.examples import Example, files
from components.session.loading import BUILT_IN
from components.viewer.component import MaskViewer
from gleanvid.compressors import COMPRESSORS

BUILT_IN_MODEL = ("Built-in (tiny)", BUILT_IN)
HEADER = "<h1>GleanVID</h1><p>Ask a video. See which of its tokens the model was given.</p>"
CLOSE_ON_PHONES = "() => ({__type__: 'update', open: window.innerWidth > 1000})"


def build_app(
    engine: Engine,
    models: Sequence[tuple[str, str]] = (BUILT_IN_MODEL,),
    examples: Sequence[Example] = (),
    limits: Limits = LOCAL,
) -> gr.Blocks:
    """The page with its endpoints. ``models`` are (label, name) pairs, the first one chosen."""
    gr.set_static_paths([first.FOLDER, *files(examples)])
    opening = first.load()
    question = opening.question or (examples[0].question if examples else "")
    start = {"model": models[0][1], "compressor": "gleanvid"}
    with gr.Blocks(title="GleanVID", fill_width=True, delete_cache=limits.delete_cache) as blocks:
        with gr.Sidebar(width=300, elem_id="gv-settings") as sidebar:
            sliders = settings.panel(COMPRESSORS, models, limits.max_frames, start)
            link.button()
        with gr.Row(elem_id="gv-top"):
            gr.HTML(HEADER, elem_id="gv-header")
            line = status.panel(display.status(engine))
        with gr.Row(elem_id="gv-columns"):
            with gr.Column(scale=5, min_width=320):
                source = clip.panel(examples, limits.upload_mb, limits.max_frames)
                words = talk.panel(question, opening.exchanges)
            with gr.Column(scale=8, min_width=320):
                results = _results(opening)
        asked = {"clip": source.video} | sliders.named()
        shared = Shared(
            settings=asked,
            question=words.question,
            notice=words.notice,
            answers=words.answers,
            ready=source.ready,
            viewer=results.viewer,
            status=line,
            tabs=results.tabs,
            runs=gr.State([]),
            exchanges=gr.State([]),  # a saved answer is no history: the model did not give it here
            tab=gr.State("Tokens"),
            starters=(words.ask, words.again, results.compare.start, results.compare.sweep),
            stoppers=(words.stop, results.compare.stop),
        )
        preview = previewing(engine, shared, words.stop, sliders.controls.problem)
        settings.wire(engine, shared.runs, sliders, words.note, preview)
        clip.wire(shared, source, examples, preview)
        talk.wire(engine, shared, words, examples)
        curves.wire(engine, shared, results.curves)
        compare.wire(engine, shared, results.compare)
        export.wire(engine, shared, results.export)
        keys = {"question": words.question} | results.compare.named()
        link.wire(engine, shared, asked | keys, sliders.controls, results.curves, examples, blocks)
        api.publish(engine, [name for _, name in models], limits.max_frames)
        blocks.load(None, None, [sidebar], js=CLOSE_ON_PHONES)

        def on_unload(user: gr.Request) -> None:
            engine.stop(owner(user))

        blocks.unload(on_unload)
    return blocks


class Results(NamedTuple):
    """The tabs beside the question, and what the panels in them hold."""

    tabs: gr.Tabs
    viewer: MaskViewer
    curves: curves.Curves
    compare: compare.Compare
    export: export.Export


def _results(opening: first.First) -> Results:
    with gr.Tabs() as tabs:
        with gr.Tab("Tokens", id="Tokens"):
            viewer = MaskViewer(opening.viewer, elem_id="gv-tokens")
        with gr.Tab("Curves", id="Curves"):
            plots = curves.panel(opening.figures)
        with gr.Tab("Compare", id="Compare"):
            methods = compare.panel(COMPRESSORS)
        with gr.Tab("Export and API", id="Export and API"):
            downloads = export.panel()
        with gr.Tab("About", id="About"):
            about.panel()
    return Results(tabs, viewer, plots, methods, downloads)
