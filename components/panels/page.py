"""The whole page: its panels in reading order, and what connects them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gradio as gr

from gleanvid.compressors import COMPRESSORS

from ..server import endpoints
from ..server.serving import LOCAL, Limits
from ..session import display
from ..session.actions import first
from ..session.choice.choosing import Choosing
from ..session.examples import Example, files
from ..session.examples import ready as ready_questions
from ..session.work.engine import Engine
from ..session.work.local import BUILT_IN
from ..session.work.recorded import Entry
from ..viewer.component import MaskViewer
from . import (
    about,
    check,
    clip,
    compare,
    curves,
    export,
    habits,
    link,
    picker,
    settings,
    sides,
    status,
    talk,
)
from .shared import Packed, Previews, Shared, owner

BUILT_IN_MODEL = ("Built-in (tiny)", BUILT_IN)
HEADER = "<h1>GleanVID</h1>"


def build_app(
    engine: Engine,
    models: Sequence[tuple[str, str]] = (BUILT_IN_MODEL,),
    examples: Sequence[Example] = (),
    limits: Limits = LOCAL,
    choosing: Choosing | None = None,
    recordings: Sequence[Entry] = (),
    served: Mapping[str, Any] | None = None,
) -> gr.Blocks:
    """The page with its endpoints. ``models`` are (label, name) pairs, the first one chosen.

    ``choosing``: how further models are loaded; None where nobody may choose one.
    ``recordings``: offered among the models. ``served``: the settings of a compressor that the
    first model has for every request; the page opens with them.
    """
    gr.set_static_paths([first.FOLDER, *files(examples)])
    opening = first.load(clip=examples[0].path if examples else None)
    question = opening.question or (examples[0].question if examples else "")
    if examples:
        first.offer(engine, examples[0], opening.runs)
    with gr.Blocks(title="GleanVID", fill_width=True) as blocks:
        recorded = [(entry.label, entry.model) for entry in recordings]
        menu = [*models, *recorded]
        parts = _panels(engine, menu, examples, limits, opening, question, choosing)
        shared = _shared(parts, examples, recordings, opening)
        _wire(engine, shared, parts, examples, blocks, choosing, served)
        names = [name for _, name in models]
        endpoints.publish(engine, names, limits.max_frames, choosing.first if choosing else "")

        def on_unload(user: gr.Request) -> None:
            engine.pages.stop(owner(user))
            if choosing:
                choosing.cancel(owner(user))

        blocks.unload(on_unload)
    return blocks


class Results(NamedTuple):
    """The tabs beside the question, and what the panels in them hold."""

    tabs: gr.Tabs
    viewer: MaskViewer
    curves: curves.Curves
    compare: compare.Compare
    export: export.Export
    check: check.Check | None


class Parts(NamedTuple):
    """Every panel of the page."""

    clip: clip.Clip
    talk: talk.Talk
    ready: gr.HTML
    notice: gr.HTML
    unread: gr.HTML
    results: Results
    settings: settings.Settings
    habits: habits.Habits
    status: gr.HTML
    picker: picker.Picker | None


def _panels(
    engine: Engine,
    models: Sequence[tuple[str, str]],
    examples: Sequence[Example],
    limits: Limits,
    opening: first.First,
    question: str,
    choosing: Choosing | None,
) -> Parts:
    with gr.Row(elem_id="gv-top"):
        gr.HTML(HEADER, elem_id="gv-header")
        model = settings.model(models)
        opener = picker.button() if choosing else None
    more = picker.panel(opener, choosing) if opener and choosing else None
    with gr.Row(elem_id="gv-asking"):
        source = clip.panel(examples)
        words = talk.panel(question)
    with gr.Row(elem_id="gv-under"):
        ready = clip.chips(ready_questions(examples[0]) if examples else [])
        line = talk.line(bool(opening.runs))
    unread = link.line()
    with gr.Row(elem_id="gv-columns"):
        with gr.Column(scale=1, min_width=320):
            results = _results(opening, limits.may_check)
        with gr.Column(scale=0, min_width=272, elem_id="gv-settings"):
            sliders, asks = settings.panel(COMPRESSORS, "gleanvid", first.RATIO, model, limits)
            link.button()
            facts = status.panel(display.status(engine))
    return Parts(source, words, ready, line, unread, results, sliders, asks, facts, more)


def _results(opening: first.First, may_check: bool) -> Results:
    with gr.Tabs(elem_id="gv-tabs") as tabs:
        with gr.Tab("Tokens", id="Tokens"):
            viewer = MaskViewer(
                opening.viewer,
                answers=opening.answers,
                choices=sides.choices(),
                elem_id="gv-tokens",
            )
        with gr.Tab("Curves", id="Curves"):
            plots = curves.panel(opening.figures)
        with gr.Tab("Compare", id="Compare"):
            methods = compare.panel(COMPRESSORS)
        with gr.Tab("Export and API", id="Export and API"):
            downloads = export.panel()
        proof = None
        if may_check:
            with gr.Tab("Check", id="Check"):
                proof = check.panel()
        with gr.Tab("About", id="About"):
            about.panel()
    return Results(tabs, viewer, plots, methods, downloads, proof)


def _shared(
    parts: Parts, examples: Sequence[Example], recordings: Sequence[Entry], opening: first.First
) -> Shared:
    """What the panels share; made within the page, as some of it is kept by the browser alone."""
    words, methods, pinned = parts.talk, parts.results.compare, sides.panel()
    proof = parts.results.check
    ways = {"both": parts.habits.both, "remember": parts.habits.remember}
    named, own = parts.settings.named(), parts.settings.controls
    return Shared(
        settings={"clip": parts.clip.file} | named,
        parts=own.parts,
        defaults=own.defaults,
        question=words.question,
        notice=parts.notice,
        ready=parts.ready,
        viewer=parts.results.viewer,
        status=parts.status,
        tabs=parts.results.tabs,
        runs=gr.State(opening.runs),
        pinned=pinned,
        exchanges=gr.State([]),
        habits=ways,
        examples={str(example.path): example for example in examples},
        recordings={entry.model: entry for entry in recordings},
        packed=Packed([*named.values(), *own.parts, *ways.values(), words.question, pinned]),
        starters=(words.ask, methods.start, methods.sweep, *([proof.start] if proof else [])),
        stoppers=(words.stop, methods.stop, *([proof.stop] if proof else [])),
    )


def _wire(
    engine: Engine,
    shared: Shared,
    parts: Parts,
    examples: Sequence[Example],
    blocks: gr.Blocks,
    choosing: Choosing | None,
    served: Mapping[str, Any] | None,
) -> None:
    results, own = parts.results, parts.settings.controls
    preview = Previews(engine, shared, parts.talk.stop, own.problem)
    compared = compare.wire(engine, shared, results.compare)
    keys = {"question": shared.question, "a": shared.pinned} | results.compare.named()
    named, moved = {**shared.settings, **keys}, settings.moved(parts.settings)
    linked = link.LinkWidgets(named, moved, settings.FOLDED, parts.unread, served)
    tuned = [
        *settings.wire(engine, shared, parts.settings, preview),
        *sides.wire(engine, shared, own, preview, compared),
        *clip.wire(engine, shared, parts.clip, examples, preview),
        link.wire(engine, shared, linked, own, results.curves, examples, blocks, preview),
    ]
    habits.wire(engine, shared, parts.habits, tuned, preview)
    talk.wire(engine, shared, parts.talk)
    if choosing and parts.picker:
        picker.wire(choosing, shared, parts.picker, preview, blocks)
    curves.wire(engine, shared, results.curves, results.compare.before)
    export.wire(engine, shared, results.export)
    if results.check:
        check.wire(engine, shared, results.check)
