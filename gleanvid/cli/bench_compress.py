"""``gleanvid bench compress``: time, memory and work of ``compress`` on made-up tokens."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from gleanvid.cli import options as shared


def add(commands: Any, words: Sequence[str]) -> None:
    """Add the parser of ``bench compress``."""
    parser = commands.add_parser("compress", help="time and memory of compress()")
    parser.add_argument("--grid", default="32x14x14", help="units x rows x columns")
    parser.add_argument("--recording", help="tokens of a recorded clip in place of made-up ones")
    parser.add_argument("--width", type=int, default=3584, help="feature width D")
    parser.add_argument("--retention-ratio", type=float, default=0.25)
    parser.add_argument("--compressor", default="gleanvid", help="names, comma-separated")
    parser.add_argument("--all", action="store_true", help="every method that reaches the ratio")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--device", default=None, help="cpu or cuda (default: what is there)")
    parser.add_argument(
        "--count",
        action="store_true",
        help="count kernels, device-to-host syncs and bytes moved instead of timing; needs no GPU",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.set_defaults(run=_bench_compress)


def _bench_compress(options: argparse.Namespace) -> int:
    import torch

    from gleanvid.evaluation.bench import bench_compress, work

    grid = tuple(int(part) for part in options.grid.split("x"))
    if len(grid) != 3 or min(grid) < 1:
        raise ValueError(f"grid={options.grid!r} must be units x rows x columns, e.g. 32x14x14")
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if options.recording:
        tokens = bench_compress.recorded_tokens(options.recording, device)
    else:
        tokens = bench_compress.made_up_tokens(grid, options.width, device)
    methods = shared.methods("all" if options.all else options.compressor, options.retention_ratio)
    if options.count:
        counted = work.count_all(methods, tokens)
        text = json.dumps(counted, indent=2) if options.json else work.table(counted)
    else:
        cost = bench_compress.measure(methods, tokens, options.repeats)
        text = json.dumps(cost, indent=2) if options.json else bench_compress.table(cost)
    print(text)
    return 0
