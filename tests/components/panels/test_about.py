"""The tab About contains the tables of checkpoints and compressors."""

from __future__ import annotations

import gradio as gr

from components.panels import about
from gleanvid.evaluation.catalogue import methods_table, model_table


def test_the_panel_holds_the_tables_of_checkpoints_and_of_compressors():
    with gr.Blocks() as blocks:
        about.AboutTab()
    texts = [block.value for block in blocks.blocks.values() if isinstance(block, gr.Markdown)]
    for table in (model_table(), methods_table()):
        assert sum(table in text for text in texts) == 1
