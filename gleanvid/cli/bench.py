"""``gleanvid bench WHAT``: measurements. A new one is one file and one line in ``BENCHES``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gleanvid.cli import bench_compress, bench_memory, bench_model, bench_serve

BENCHES = (bench_compress, bench_model, bench_memory, bench_serve)


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add a command for each thing that can be measured."""
    kinds = parser.add_subparsers(required=True, metavar="what")
    for bench in BENCHES:
        bench.add(kinds, words)
