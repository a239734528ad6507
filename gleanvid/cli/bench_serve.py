"""``gleanvid bench serve``: a running server of vLLM under load."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gleanvid.cli.running import writable


def add(commands: Any, words: Sequence[str]) -> None:
    """Add the parser of ``bench serve``."""
    parser = commands.add_parser(
        "serve", help="requests, first tokens and tokens a second of a running server of vLLM"
    )
    parser.add_argument("clips", nargs="+", help="video files, sent in turn")
    parser.add_argument("--url", default="http://127.0.0.1:8000", help="of the server")
    parser.add_argument("--concurrency", default="1,8,32", help="requests at a time")
    parser.add_argument("--requests", type=int, default=32, help="for each of these, at least")
    parser.add_argument(
        "--videos",
        type=int,
        default=12,
        help="taken in beside a running answer, for its pauses; 0 leaves them out",
    )
    parser.add_argument("--max-new-tokens", type=int, default=16, help="of every answer")
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="folder of the CSV, table and picture; runs with other shares add to them",
    )
    parser.set_defaults(run=_bench_serve)


def _bench_serve(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.bench import bench_pauses, bench_serve
    from gleanvid.evaluation.bench.serve_words import words_of_loads, words_of_pauses
    from gleanvid.serving.vllm.client import Server

    parts = options.concurrency.split(",")
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise ValueError(f"concurrency={options.concurrency!r} must be numbers, e.g. 1,8,32")
    if min(options.requests, options.max_new_tokens) < 1 or options.videos < 0:
        raise ValueError("requests and max-new-tokens must be at least 1, videos at least 0")
    clips = [Path(clip) for clip in options.clips]
    if missing := [clip for clip in clips if not clip.is_file()]:
        raise ValueError(f"no such video file: {missing[0]}")
    out = writable(options.out) if options.out else None
    if out:  # files that cannot be added to are told ahead of the work
        bench_serve.read(out)
        bench_pauses.read(out)
    levels = [int(part) for part in parts]
    server, loads = Server(options.url), []
    counts = (levels, options.requests, options.max_new_tokens)
    for load in bench_serve.measure(server, clips, *counts):
        loads.append(load)
        print(f"{load.label}, {load.concurrency} at a time: measured", file=sys.stderr)
    found = [bench_pauses.pauses(server, clips, options.videos)] if options.videos else []
    if out:
        loads = bench_serve.save(loads, out)
        found = bench_pauses.save(found, out) if found else bench_pauses.read(out)
    reports = {"serve.md": _with_words(bench_serve.table(loads), words_of_loads(loads))}
    if found:
        reports["pauses.md"] = _with_words(bench_pauses.table(found), words_of_pauses(found))
    if out:
        _write(loads, reports, out)
    print("\n".join(reports.values()), end="")
    return 0


def _with_words(table: str, words: str) -> str:
    return f"{table}\n{words}" if words else table


def _write(loads: Sequence[Any], reports: Mapping[str, str], folder: Path) -> None:
    from gleanvid.plots.load import load_figure

    for name, text in reports.items():
        (folder / name).write_text(text, encoding="utf-8")
    by_level: dict[int, list[tuple[float, float, float]]] = {}
    for load in loads:
        point = (load.kept, load.requests_per_s, load.first_token_s)
        by_level.setdefault(load.concurrency, []).append(point)
    load_figure(by_level).savefig(folder / "serve.png", dpi=120)
