"""``gleanvid models``: checkpoints that are known to work, and what they take."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from typing import Any


def add(commands: Any, given: Sequence[str]) -> None:
    """Add the parser of ``models``."""
    parser = commands.add_parser("models", help="known checkpoints: size, memory, licence, tests")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.set_defaults(run=_models)


def _models(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.results.catalogue import model_table
    from gleanvid.models.loading.registry import CHECKPOINTS

    if options.json:
        rows = [dataclasses.asdict(row) | {"weights_gb": row.weights_gb} for row in CHECKPOINTS]
        print(json.dumps(rows, indent=2))
    else:
        print(model_table())
    return 0
