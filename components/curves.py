"""The curves of a run: tokens kept in each step against the even share, and novelty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import gradio as gr

from gleanvid.plots import budget_figure, novelty_figure
from gleanvid.run import Run

ABOUT = (
    "How the budget is spread over the clip. A unit is one step in time as the model sees "
    "it, often two frames. One that shows something new gets more than the uniform share B/T; one "
    "that repeats what came before gets less."
)


class Curves(NamedTuple):
    budget: gr.Plot
    novelty: gr.Plot


def panel(figures: Sequence[Any] = (None, None)) -> Curves:
    gr.Markdown(ABOUT, elem_classes="gv-hint")
    budget = gr.Plot(figures[0], show_label=False, elem_id="gv-budget")
    novelty = gr.Plot(figures[1], show_label=False, elem_id="gv-novelty")
    return Curves(budget, novelty)


def draw(run: Run | None) -> list[Any]:
    """Both figures; a run that is gone leaves them empty."""
    return [None, None] if run is None else [budget_figure(run), novelty_figure(run)]
