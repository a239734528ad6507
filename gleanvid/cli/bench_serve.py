"""``gleanvid bench serve``: running vLLM servers under load."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gleanvid.cli.running import writable


def add(commands: Any, words: Sequence[str]) -> None:
    """Add the parser of ``bench serve``."""
    parser = commands.add_parser(
        "serve", help="requests, first tokens and tokens a second of running vLLM servers"
    )
    parser.add_argument("clips", nargs="+", help="video files, sent in turn")
    parser.add_argument(
        "--url", default="http://127.0.0.1:8000", help="of the servers, comma-separated"
    )
    parser.add_argument("--concurrency", default="1,8,32", help="requests at a time")
    parser.add_argument("--requests", type=int, default=32, help="for each of these, at least")
    parser.add_argument("--max-new-tokens", type=int, default=16, help="of every answer")
    parser.add_argument("--out", metavar="DIR", help="folder of the table and the figure")
    parser.set_defaults(run=_bench_serve)


def _bench_serve(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.bench.bench_serve import Load, measure, table
    from gleanvid.serving.vllm.client import Server

    parts = options.concurrency.split(",")
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise ValueError(f"concurrency={options.concurrency!r} must be numbers, e.g. 1,8,32")
    if min(options.requests, options.max_new_tokens) < 1:
        raise ValueError("requests and max-new-tokens must be at least 1")
    clips = [Path(clip) for clip in options.clips]
    if missing := [clip for clip in clips if not clip.is_file()]:
        raise ValueError(f"no such video file: {missing[0]}")
    out = writable(options.out) if options.out else None
    loads: list[Load] = []
    levels = [int(part) for part in parts]
    for url in options.url.split(","):
        counts = (levels, options.requests, options.max_new_tokens)
        for load in measure(Server(url), clips, *counts):
            loads.append(load)
            print(f"{load.label}, {load.concurrency} at a time: measured", file=sys.stderr)
    if out:
        (out / "serve.md").write_text(table(loads), encoding="utf-8")
        _draw(loads, out / "serve.png")
    print(table(loads), end="")
    return 0


def _draw(loads: Sequence[Any], path: Path) -> None:
    from gleanvid.plots.load import load_figure

    by_level: dict[int, list[tuple[float, float, float]]] = {}
    for load in loads:
        point = (load.kept, load.requests_per_s, load.first_token_s)
        by_level.setdefault(load.concurrency, []).append(point)
    load_figure(by_level).savefig(path, dpi=120)
