"""``gleanvid bench WHAT``: measurements. A new one is one file and one line in ``BENCHES``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gleanvid.cli import bench_compress, bench_memory, bench_model

BENCHES = (bench_compress, bench_model, bench_memory)


def add(commands: Any, given: Sequence[str]) -> None:
    """Add the parsers of ``bench``, one for each thing that can be measured."""
    parser = commands.add_parser("bench", help="measure")
    kinds = parser.add_subparsers(required=True, metavar="what")
    for bench in BENCHES:
        bench.add(kinds, given)
