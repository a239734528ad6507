"""``gleanvid bench WHAT``: measurements of compressors, models, memory and servers."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gleanvid.cli import bench_model
from gleanvid.cli import options as shared
from gleanvid.cli.running import report as progress
from gleanvid.cli.running import writable


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add a subcommand for each kind of measurement."""
    commands = parser.add_subparsers(required=True, metavar="what")
    _add_compress(commands)
    bench_model.add(commands, words)
    _add_memory(commands)
    _add_serve(commands)


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
    parser.add_argument(
        "--units", help="clip lengths to measure, in temporal units, comma-separated: 16,64"
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=100.0,
        help="with --units: CPU seconds at which a call is stopped; longer clips are then skipped",
    )
    parser.add_argument(
        "--out", metavar="DIR", help="output folder for the table and figure of --units"
    )
    parser.add_argument("--repeats", type=int, default=5, help="number of timed repetitions")
    parser.add_argument(
        "--device", help="device that compresses: cpu or cuda (default: cuda if available)"
    )
    parser.add_argument(
        "--count",
        action="store_true",
        help="count GPU kernels, device-to-host syncs and bytes moved instead of timing",
    )
    shared.add_json(parser, "the measurements as JSON instead of a table")
    parser.set_defaults(run=_bench_compress)


def _bench_compress(options: argparse.Namespace) -> int:
    import torch

    from gleanvid.evaluation.bench import bench_compress, work

    grid = tuple(int(part) for part in options.grid.split("x"))
    if len(grid) != 3 or min(grid) < 1:
        raise ValueError(f"grid={options.grid!r} must be units x rows x columns, e.g. 32x14x14")
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    methods = shared.methods("all" if options.all else options.compressor, options.retention_ratio)
    if options.units:
        return _bench_length(options, methods, (*grid[1:], options.width), device)
    if options.recording:
        tokens = bench_compress.recorded_tokens(options.recording, device)
    else:
        tokens = bench_compress.made_up_tokens(grid, options.width, device)
    if options.count:
        counted = work.count_all(methods, tokens)
        text = json.dumps(counted, indent=2) if options.json else work.table(counted)
    else:
        cost = bench_compress.measure(methods, tokens, options.repeats)
        text = json.dumps(cost, indent=2) if options.json else bench_compress.table(cost)
    print(text)
    return 0


def _bench_length(
    options: argparse.Namespace, methods: Sequence[Any], shape: tuple[int, int, int], device: str
) -> int:
    from gleanvid.evaluation.bench.bench_length import measure, points, table
    from gleanvid.plots.length import length_figure

    units = shared.whole_numbers("units", options.units)
    out = writable(options.out) if options.out else None
    stem = f"length_{'x'.join(map(str, shape))}"
    for report in measure(methods, units, shape, device, options.repeats, options.limit):
        progress(f"{report['rows'][-1]}")
        if out:  # written after every measurement, because the user may interrupt the run
            (out / f"{stem}.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
            (out / f"{stem}.md").write_text(table(report) + "\n", encoding="utf-8")
    if out:
        length_figure(points(report), report["clock"]).savefig(out / f"{stem}.png", dpi=120)
    print(json.dumps(report, indent=2) if options.json else table(report))
    return 0


def _add_memory(commands: Any) -> None:
    parser = commands.add_parser("memory", help="peak memory for different numbers of frames")
    parser.add_argument(
        "--frames", default="8,16,32,64,128", help="numbers of frames, comma-separated"
    )
    parser.add_argument("--compressor", default="gleanvid", help="name of the compressor")
    parser.add_argument("--retention-ratio", type=float, help=shared.ONE_RATIO)
    shared.add_json(parser, "the measurements as JSON instead of a table")
    shared.add_model(parser)
    parser.set_defaults(run=_bench_memory)


def _bench_memory(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.bench.bench_memory import measure, table

    frames = shared.whole_numbers("frames", options.frames)
    (method,) = shared.methods(options.compressor.split(",")[0], options.retention_ratio)
    report = measure(shared.load(options), method, frames)
    print(json.dumps(report, indent=2) if options.json else table(report))
    return 0


def _add_serve(commands: Any) -> None:
    parser = commands.add_parser("serve", help="throughput and latency of running vLLM servers")
    parser.add_argument("clips", nargs="+", help="video files to ask about, in rotation")
    parser.add_argument(
        "--url",
        default="http://127.0.0.1:8000",
        help="addresses of running vLLM servers, comma-separated",
    )
    parser.add_argument(
        "--concurrency", default="1,8,32", help="numbers of concurrent requests, comma-separated"
    )
    parser.add_argument(
        "--requests",
        type=int,
        default=32,
        help="minimum number of requests for each level of concurrency",
    )
    parser.add_argument(
        "--max-new-tokens", type=int, default=16, help="exact number of tokens of each answer"
    )
    parser.add_argument("--out", metavar="DIR", help="output folder for the table and the figure")
    parser.set_defaults(run=_bench_serve)


def _bench_serve(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.bench.bench_serve import Load, measure, table
    from gleanvid.serving.vllm import SCHEME, send_key_to
    from gleanvid.serving.vllm.client import servers_of

    levels = shared.whole_numbers("concurrency", options.concurrency)
    if min(options.requests, options.max_new_tokens) < 1:
        raise ValueError("--requests and --max-new-tokens must be at least 1")
    clips = [Path(clip) for clip in options.clips]
    if missing := [clip for clip in clips if not clip.is_file()]:
        raise ValueError(f"no such video file: {missing[0]}")
    out = writable(options.out) if options.out else None
    loads: list[Load] = []
    name = f"{SCHEME}{options.url}"
    send_key_to(name)
    for server in servers_of(name):
        counts = (levels, options.requests, options.max_new_tokens)
        for load in measure(server, clips, *counts):
            loads.append(load)
            print(f"{load.label}, {load.concurrency} at a time: measured", file=sys.stderr)
    if out:
        (out / "serve.md").write_text(table(loads), encoding="utf-8")
        _draw_loads(loads, out / "serve.png")
    print(table(loads), end="")
    return 0


def _draw_loads(loads: Sequence[Any], path: Path) -> None:
    from gleanvid.plots.load import load_figure

    by_level: dict[int, list[tuple[float, float, float]]] = {}
    for load in loads:
        point = (load.kept, load.requests_per_s, load.first_token_s)
        by_level.setdefault(load.concurrency, []).append(point)
    load_figure(by_level).savefig(path, dpi=120)
