"""``gleanvid bench WHAT``: time and memory of compressors and of whole models."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from gleanvid.cli import bench_model
from gleanvid.cli import options as shared


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add a subcommand for each kind of measurement; ``words``: the whole command line."""
    commands = parser.add_subparsers(required=True, metavar="what")
    _add_compress(commands)
    bench_model.add(commands, words)


def _add_compress(commands: Any) -> None:
    parser = commands.add_parser(
        "compress", help="time and memory to compress the tokens of one clip"
    )
    parser.add_argument(
        "--grid",
        default="32x14x14",
        help="size of the synthetic clip in tokens: units x rows x columns",
    )
    parser.add_argument(
        "--recording",
        help="file written by gleanvid record, whose tokens replace the synthetic ones",
    )
    parser.add_argument(
        "--width", type=int, default=3584, help="number of feature channels per token"
    )
    parser.add_argument("--retention-ratio", type=float, help=shared.ONE_RATIO)
    parser.add_argument(
        "--compressor", default="gleanvid", help="compressor names, comma-separated"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="measure every compressor that can reach the retention ratio",
    )
    parser.add_argument("--repeats", type=int, default=5, help="number of timed repetitions")
    parser.add_argument(
        "--device", help="device that compresses: cpu or cuda (default: cuda if available)"
    )
    shared.add_json(parser, "the measurements as JSON instead of a table")
    parser.set_defaults(run=_bench_compress)


def _bench_compress(options: argparse.Namespace) -> int:
    import torch

    from gleanvid.evaluation.bench import bench_compress

    grid = tuple(int(part) for part in options.grid.split("x"))
    if len(grid) != 3 or min(grid) < 1:
        raise ValueError(f"grid={options.grid!r} must be units x rows x columns, e.g. 32x14x14")
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    methods = shared.methods("all" if options.all else options.compressor, options.retention_ratio)
    if options.recording:
        tokens = bench_compress.recorded_tokens(options.recording, device)
    else:
        tokens = bench_compress.made_up_tokens(grid, options.width, device)
    cost = bench_compress.measure(methods, tokens, options.repeats)
    print(json.dumps(cost, indent=2) if options.json else bench_compress.table(cost))
    return 0
