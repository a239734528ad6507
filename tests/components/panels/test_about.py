from __future__ import annotations

import gradio as gr

from components.panels import about
from gleanvid.evaluation.catalogue import methods_table, model_table


def test_about_tab_has_tables_of_checkpoints_and_compressors_and_says_how_long_files_are_kept():
    with gr.Blocks() as blocks:
        about.AboutTab()
    texts = [block.value for block in blocks.blocks.values() if isinstance(block, gr.Markdown)]
    assert sum("## How long files stay on the server" in text for text in texts) == 1
    for table in (model_table(), methods_table()):
        assert sum(table in text for text in texts) == 1
