"""The script with which Gradio mounts a component whose code stands in ``assets/results``.

Gradio runs it as a function: it can import modules, but cannot be one.
"""

from __future__ import annotations

import json

import gradio as gr

from ..places import ASSETS

MODULES = ASSETS / "results"
gr.set_static_paths([MODULES, ASSETS / "viewer"])


def address(name: str) -> str:
    """Where the browser gets the module of this name, below the page's root, as JavaScript."""
    return json.dumps(f"/gradio_api/file={(MODULES / name).as_posix()}")


def mounting(name: str) -> str:
    """What mounts the module of this name: its ``mount`` gets what Gradio gives the script."""
    return f"""
import((window.gradio_config?.root ?? "") + {address(name)}).then(
  (module) => module.mount({{ element, props, watch }}),
  (error) => console.error(error),
);
"""
