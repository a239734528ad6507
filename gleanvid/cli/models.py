"""``gleanvid models``: checkpoints that are known to work, and what they take."""

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
    parser.set_defaults(run=_models)


def _models(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.catalogue import model_table
    from gleanvid.models.loading.registry import CHECKPOINTS

    if options.json:
        rows = [dataclasses.asdict(row) | {"weights_gb": row.weights_gb} for row in CHECKPOINTS]
        print(json.dumps(rows, indent=2))
    else:
        show(model_table(), options.markdown)
    return 0
