"""``gleanvid app``: start the web app, with the options of ``app.py``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

MISSING = "the app is not installed: pip install 'gleanvid[app]', or 'make app' in a checkout"


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the command's options to ``parser``; ``words``: the whole command line."""
    app_module("options").add_options(parser)
    parser.set_defaults(run=_app)


def _app(options: argparse.Namespace) -> int:
    app_module("options").check(options)
    app_module("launch").serve(options)
    return 0


def app_module(name: str) -> Any:
    """Import the app's module ``name``. Raises ``ValueError`` if the app is not installed."""
    if find_spec("gradio") is None or find_spec("gleanvid_app") is None:
        raise ValueError(MISSING)
    return import_module(f"gleanvid_app.{name}")
