"""Run ``gleanvid bench serve`` against servers of the built-in model, one per retention ratio.

``python -m tools.bench_vllm_ratios --out FOLDER`` in the environment of ``make test-vllm``.
Servers and client have one thread each. All servers start before the first measurement, two at a
time, because starting takes longer than measuring; an idle server sleeps.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import torch

from gleanvid.cli import main as gleanvid
from gleanvid.evaluation.provenance import describe_machine
from tests.serving.vllm import running
from tools.vllm_environment import VLLM

CLIPS = [str(running.CLIPS / f"{name}.mp4") for name in ("glimpse_1", "glimpse_2", "city", "bunny")]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument(
        "--requests",
        default="24",
        help="number of requests for each table row; 32 if 32 are sent at once",
    )
    parser.add_argument(
        "--rates",
        default="0,0.5,0.75,0.9",
        help="fractions of tokens dropped, comma-separated; 0: none",
    )
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    options.out.mkdir(parents=True, exist_ok=True)
    describe(options.out / "machine.md")
    rates = [float(part) for part in options.rates.split(",")]
    with ExitStack() as stack:

        def start(rate: float) -> str:
            method = "gleanvid" if rate else None
            return stack.enter_context(running.server(method, rate or None))

        with ThreadPoolExecutor(2) as pool:
            urls = list(pool.map(start, rates))
        words = ["bench", "serve", *CLIPS, "--url", ",".join(urls), "--out", str(options.out)]
        return gleanvid([*words, "--requests", options.requests])


def describe(path: Path) -> None:
    """Write a description of the machine and its load; call before the first server starts."""
    facts = describe_machine(torch.device("cpu"))
    words = (
        f"{facts['cpu']}, {facts['cpu_cores']} cores, load average {facts['load_average']} before "
        f"the first server started; {VLLM.replace('==', ' ')}, torch {facts['versions']['torch']}, "
        f"one thread a server and one for the client.\n"
    )
    path.write_text(words, encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
