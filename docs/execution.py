"""Run the code cells of the pages in the process of the build, where torch is loaded already.

A kernel for each page would import torch and transformers again, which takes longer than the cells.
"""

from __future__ import annotations

import logging
import os
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from typing import Any
from unittest.mock import patch

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import select_figure_formats
from IPython.display import display
from IPython.utils.capture import capture_output
from jupyter_cache.executors.utils import ExecutionResult
from myst_nb.core.execute import cache
from nbformat.v4 import new_output

from gleanvid import plugins
from gleanvid.compressors import COMPRESSORS


def run_notebook(notebook: Any, cwd: str, **options: Any) -> ExecutionResult:
    """Run a notebook in ``cwd`` and fill in its outputs; takes the place of jupyter-cache's."""
    shell, began = shell_of_pages(), time.time()
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    with chdir(cwd), own_plugins():
        for cell in notebook.cells:
            if cell.cell_type == "code" and "skip-execution" not in cell.metadata.get("tags", ()):
                with capture_output() as captured:
                    done = shell.run_cell(cell.source)
                if error := done.error_before_exec or done.error_in_exec:
                    return ExecutionResult(notebook, cwd, 0, error, captured.stdout)
                cell.outputs = list(outputs(captured))
    return ExecutionResult(notebook, cwd, time.time() - began)


def shell_of_pages() -> InteractiveShell:
    """Return an empty shell that displays the value of a cell's last line as a notebook does."""
    shell = InteractiveShell.instance()
    shell.enable_gui = lambda gui=None: None  # "%matplotlib inline" asks for one
    shell.display_trap.hook = lambda value: None if value is None else display(value)
    select_figure_formats(shell, {"png"})
    shell.reset(new_session=False)
    return shell


def outputs(captured: Any) -> Iterator[Any]:
    if captured.stdout:
        yield new_output("stream", name="stdout", text=captured.stdout)
    for shown in captured.outputs:
        data = {
            kind: b64encode(part).decode() if isinstance(part, bytes) else part
            for kind, part in shown.data.items()
        }
        yield new_output("display_data", data=data, metadata=shown.metadata)


@contextmanager
def own_plugins() -> Iterator[None]:
    """Forget the plug-ins that are loaded inside: a page's method is not on other pages."""
    with patch.dict(COMPRESSORS), patch.dict(plugins._files):
        yield


def setup() -> None:
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # Sphinx shows a line for each glyph
    cache.single_nb_execution = run_notebook
