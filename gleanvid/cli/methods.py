"""``gleanvid methods``: what to know of every compressor to choose one."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence

from gleanvid.cli.screen import add_markdown, show


def add(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    """The options of the command."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    add_markdown(parser)
    parser.set_defaults(run=_methods)


def _methods(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.catalogue import methods, methods_table

    if options.json:
        print(json.dumps([dataclasses.asdict(row) for row in methods()], indent=2))
    else:
        show(methods_table(), options.markdown)
    return 0
