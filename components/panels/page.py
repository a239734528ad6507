"""One page: its panels, and what the server remembers of it. What an event takes and changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import gradio as gr

from components.panels import clip, compare, controls, curves, export, settings, talk
from components.session import actions
from components.session.request import Request
from components.viewer.component import MaskViewer
from gleanvid.compressors import COMPRESSORS


class Page(NamedTuple):
    settings: settings.Settings
    status: gr.HTML
    clip: clip.Clip
    talk: talk.Talk
    viewer: MaskViewer
    curves: curves.Curves
    compare: compare.Compare
    export: export.Export
    runs: gr.State  # ids of the runs on show, the first one in charge
    turns: gr.State
    tab: gr.State  # name of the open tab

    def asked(self) -> list[Any]:
        """The widgets whose values make a ``Request``."""
        return [self.clip.video, *self.settings.named().values()]

    def request(self, values: Sequence[Any]) -> Request:
        """What the widgets of :meth:`asked` say."""
        path, model, frames, pixels, seed, temperature, top_p, new_tokens, *chosen = values
        fields = list(self.settings.controls.fields)
        sampling = {
            "seed": seed,
            "temperature": temperature,
            "top_p": top_p,
            "max_new_tokens": int(new_tokens or 0),
        }
        return Request(
            path,
            int(frames or 0),
            model,
            lambda: controls.chosen(COMPRESSORS, fields, chosen),
            int(pixels or 0),
            sampling,
        )

    def shown(self) -> list[Any]:
        """The parts that an ``actions.Shown`` changes, in the order of :func:`updates`."""
        return [*self.looked(), self.talk.answers, self.turns, *self.busy()]

    def looked(self) -> list[Any]:
        """Those of :meth:`shown` that change without a question. Few: each costs the page time."""
        return [self.talk.notice, self.viewer, self.runs, self.status]

    def busy(self) -> list[Any]:
        """The buttons that change while this page has work under way."""
        talk, compare = self.talk, self.compare
        return [talk.ask, talk.again, talk.stop, compare.start, compare.sweep, compare.stop]


def updates(shown: actions.Shown) -> list[Any]:
    """One value for each of ``Page.shown``; a part that stays is skipped."""
    said = [gr.skip() if shown.turns is None else shown.turns] * 2
    return [*looked(shown), *said, *(working(False) if shown.done else [gr.skip()] * 6)]


def looked(shown: actions.Shown) -> list[Any]:
    """One value for each of ``Page.looked``."""
    parts = [shown.notice, shown.viewer, shown.runs, shown.status]
    return [gr.skip() if part is None else part for part in parts]


def working(running: bool) -> list[Any]:
    """Updates for ``Page.busy``: stop works while something runs, everything else before."""
    free, stop = gr.update(interactive=not running), gr.update(interactive=running)
    return [free, free, stop, free, free, stop]
