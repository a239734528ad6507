"""The whole page: makes its panels in reading order and connects their events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import gradio as gr

from gleanvid.compressors import COMPRESSORS

from ..compare.panel import CompareTab
from ..export.panel import ExportTab
from ..jobs import display
from ..jobs.engine import Engine
from ..jobs.examples import Example, files, ready
from ..jobs.local import BUILT_IN, PHOTOS
from ..jobs.recorded import Entry
from ..jobs.request import FIRST_RATIO
from ..models import picker
from ..models.choosing import Choosing
from ..models.offer_panel import OfferPanel
from ..models.served import ServedPanel
from ..server import endpoints
from ..server.serving import LOCAL, Limits
from ..tokens import talk
from ..tokens.clip import ClipPanel, questions
from ..tokens.previews import Previews
from ..tokens.sides import SidesPanel, TokensTab
from ..tokens.talk import TalkPanel
from ..widgets import events, notice
from ..widgets.gathered import Gathered
from ..widgets.page_state import Inputs, Outputs, owner
from ..widgets.panel import Page, Panel, Tab
from . import first
from .about import AboutTab
from .link import LinkPanel, copy_button
from .settings import SettingsPanel, model_menu

BUILT_IN_MODEL = ("Built-in (tiny)", BUILT_IN)
PHOTO_MODEL = ("Photo encoder", PHOTOS)
HEADER = "<h1>GleanVID</h1><p>See what a Video LLM is shown, and what it answers.</p>"


def build_app(
    engine: Engine,
    models: Sequence[tuple[str, str]] = (BUILT_IN_MODEL,),
    examples: Sequence[Example] = (),
    limits: Limits = LOCAL,
    choosing: Choosing | None = None,
    recordings: Sequence[Entry] = (),
    served: Mapping[str, Any] | None = None,
) -> gr.Blocks:
    """Build the page with its endpoints.

    ``models``: (label, name) pairs; the first one is chosen. ``choosing``: loads further models;
    None if visitors may not load any. ``recordings``: recorded answers, offered like models.
    ``served``: settings of the compressor that the first model, a vLLM server, applies to every
    request. The page opens with these settings.
    """
    gr.set_static_paths([first.FOLDER, *files(examples)])
    opening = first.load(clip=examples[0].path if examples else None)
    if examples:
        first.offer(engine, examples[0], opening.runs)
    recorded = [(entry.label, entry.model) for entry in recordings]
    with gr.Blocks(title="GleanVID", fill_width=True) as blocks:
        layout = Layout(engine, [*models, *recorded], examples, limits, opening, choosing, served)
        layout.connect(engine, blocks, examples, recordings, opening)
        names = [name for _, name in models]
        endpoints.publish(engine, names, limits.max_frames, choosing.first if choosing else "")

        def on_unload(user: gr.Request) -> None:
            engine.pages.stop(owner(user))

        blocks.unload(on_unload)
    return blocks


def tabs_of(opening: first.First) -> list[tuple[type[Tab], tuple[Any, ...]]]:
    """Return (class, constructor arguments) of each tab, in the order of the tabs."""
    return [
        (TokensTab, (opening.viewer, opening.answers)),
        (CompareTab, (COMPRESSORS,)),
        (ExportTab, ()),
        (AboutTab, ()),
    ]


class Layout:
    """Makes every panel of the page in reading order, then connects them."""

    def __init__(
        self,
        engine: Engine,
        models: Sequence[tuple[str, str]],
        examples: Sequence[Example],
        limits: Limits,
        opening: first.First,
        choosing: Choosing | None,
        served: Mapping[str, Any] | None,
    ) -> None:
        with gr.Row(elem_id="gv-top"):
            gr.HTML(HEADER, elem_id="gv-header")
            model = model_menu(models)
            opener = picker.button() if choosing else None
        self.picker = None
        if opener and choosing:
            self.picker = picker.ModelPicker(choosing, opener, model)
        with gr.Row(elem_id="gv-asking"):
            self.clip = ClipPanel(examples)
            question = opening.question or (examples[0].question if examples else "")
            self.talk = TalkPanel(question)
        with gr.Row(elem_id="gv-under"):
            self.offer = OfferPanel(choosing) if choosing else None
            self.ready = questions(ready(examples[0]) if examples else [])
            self.notice = notice.panel(talk.SAVED if opening.runs else "")
        self.link, self.signals = LinkPanel(served, self.clip), events.signals()
        with gr.Row(elem_id="gv-columns"):
            with gr.Column(scale=1, min_width=320):
                self.tab_bar, self.tabs = make_tabs(tabs_of(opening))
            with gr.Column(scale=0, min_width=272, elem_id="gv-settings"):
                self.settings = SettingsPanel(COMPRESSORS, "gleanvid", FIRST_RATIO, model, limits)
                copy_button()
                self.status = notice.status(display.status(engine))
        self.sides = SidesPanel(self.settings.controls)
        (compare,) = (tab for tab in self.tabs if isinstance(tab, CompareTab))
        self.served = ServedPanel(self.settings.controls.method, compare.methods)

    @property
    def panels(self) -> list[Panel]:
        """All panels except ``picker`` and ``link``, which :meth:`connect` connects afterwards."""
        offer = [self.offer] if self.offer else []
        return [self.clip, *offer, self.talk, self.settings, self.sides, self.served, *self.tabs]

    def connect(
        self,
        engine: Engine,
        blocks: gr.Blocks,
        examples: Sequence[Example],
        recordings: Sequence[Entry],
        opening: first.First,
    ) -> None:
        runs = gr.State(opening.runs)
        inputs, outputs = self._inputs(examples, recordings, runs), self._outputs(runs)
        problem, live = self.settings.controls.problem, self.settings.live
        preview = Previews(engine, inputs, outputs, self.talk.stop, problem, live, self.signals)
        page = Page(engine, inputs, outputs, blocks, examples, self.tabs, preview, self.signals)
        if self.offer:
            self.talk.also = [self.offer.asks.change]
        queue = partial(display.with_queue, engine)
        self.signals.queue(queue, self.status, self.status, **events.AT_ONCE)
        for panel in self.panels:
            panel.connect(page)
        for event in (event for tab in self.tabs for event in tab.left_on_show):
            self.sides.follow(event)
        named = {key: widget for panel in self.panels for key, widget in panel.linked().items()}
        self.link.connect_to(page, self.settings, named)
        if self.picker:
            self.picker.connect(page)

    def _inputs(
        self, examples: Sequence[Example], recordings: Sequence[Entry], runs: gr.State
    ) -> Inputs:
        named, both = self.settings.linked(), self.settings.both
        parts, question, pinned = (
            self.settings.controls.parts,
            self.talk.question,
            self.sides.pinned,
        )
        return Inputs(
            settings={"clip": self.clip.file} | named,
            parts=parts,
            defaults=self.settings.controls.defaults,
            question=question,
            pinned=pinned,
            runs=runs,
            shelf=self.clip.own,
            both=both,
            examples={str(example.path): example for example in examples},
            recordings={entry.model: entry for entry in recordings},
            gathered=Gathered([*named.values(), *parts, both, question, pinned]),
        )

    def _outputs(self, runs: gr.State) -> Outputs:
        (viewer,) = (tab.viewer for tab in self.tabs if isinstance(tab, TokensTab))
        return Outputs(
            notice=self.notice,
            viewer=viewer,
            runs=runs,
            status=self.status,
            ready=self.ready,
            tabs=self.tab_bar,
            starters=tuple(button for panel in self.panels for button in panel.starters),
            stoppers=tuple(button for panel in self.panels for button in panel.stoppers),
        )


def make_tabs(rows: Sequence[tuple[type[Tab], tuple[Any, ...]]]) -> tuple[gr.Tabs, list[Tab]]:
    panels = []
    with gr.Tabs(elem_id="gv-tabs") as bar:
        for kind, made_from in rows:
            with gr.Tab(kind.title, id=kind.title) as tab:
                panel = kind(*made_from)
            panel.tab = tab
            panels.append(panel)
    return bar, panels
