"""``gleanvid bench memory``: peak memory against the number of frames."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from gleanvid.cli import options as shared


def add(commands: Any, words: Sequence[str]) -> None:
    """Add the parser of ``bench memory``."""
    parser = commands.add_parser("memory", help="peak memory against the number of frames")
    parser.add_argument("--frames", default="8,16,32,64,128", help="numbers, comma-separated")
    parser.add_argument("--compressor", default="gleanvid", help="one name")
    parser.add_argument("--retention-ratio", type=float, default=0.25)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    shared.add_model(parser)
    parser.set_defaults(run=_bench_memory)


def _bench_memory(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.bench.bench_memory import measure, table

    parts = options.frames.split(",")
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise ValueError(f"frames={options.frames!r} must be numbers of at least 1, e.g. 8,16,32")
    (method,) = shared.methods(options.compressor.split(",")[0], options.retention_ratio)
    report = measure(shared.load(options), method, [int(part) for part in parts])
    print(json.dumps(report, indent=2) if options.json else table(report))
    return 0
