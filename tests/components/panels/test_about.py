"""About: the checkpoints are told where the page is, too."""

from __future__ import annotations

import gradio as gr

from components.panels import about
from gleanvid.evaluation.results.catalogue import model_table


def test_the_panel_holds_the_table_of_checkpoints():
    with gr.Blocks() as blocks:
        about.panel()
    texts = [block.value for block in blocks.blocks.values() if isinstance(block, gr.Markdown)]
    assert sum(model_table() in text for text in texts) == 1
