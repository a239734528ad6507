"""``gleanvid bench serve`` against servers of the built-in model, one for each share of tokens.

``python -m tools.bench_vllm_ratios --out FOLDER`` in the environment of ``make test-vllm``.
Servers and client have one thread each. What the folder holds of an earlier run is replaced.

The servers start ahead of all measuring, two at a time, because that takes longer than measuring;
one that nobody asks sleeps.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import torch

from gleanvid.cli import main as gleanvid
from gleanvid.evaluation.bench import bench_pauses, bench_serve
from gleanvid.evaluation.bench.machine import describe_machine
from tests.serving.vllm import running
from tools.vllm_environment import VLLM

CLIPS = [str(running.CLIPS / f"{name}.mp4") for name in ("glimpse_1", "glimpse_2", "city", "bunny")]
PAUSES_OF = (0.0, 0.75)  # rates whose running answers are watched


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--requests", default="24", help="of a row; 32 where 32 come at once")
    parser.add_argument("--videos", default="8", help="beside a running answer")
    parser.add_argument("--rates", default="0,0.5,0.75,0.9", help="shares that go, 0 for none")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    prepare(options.out)
    rates = [float(part) for part in options.rates.split(",")]
    with ExitStack() as stack:

        def start(rate: float) -> str:
            method = "gleanvid" if rate else None
            return stack.enter_context(running.server(method, rate or None))

        with ThreadPoolExecutor(2) as pool:
            urls = list(pool.map(start, rates))
        for rate, url in zip(rates, urls, strict=True):
            videos = options.videos if rate in PAUSES_OF else "0"
            counts = ["--requests", options.requests, "--videos", videos]
            words = ["bench", "serve", *CLIPS, "--url", url, *counts, "--out", str(options.out)]
            if code := gleanvid(words):
                return code
    return 0


def prepare(folder: Path) -> None:
    """What an earlier run left is gone; the machine is told as it is ahead of the work."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (bench_serve.NAME, bench_pauses.NAME):
        (folder / name).unlink(missing_ok=True)
    facts = describe_machine(torch.device("cpu"))
    words = (
        f"{facts['cpu']}, {facts['cpu_cores']} cores, load average {facts['load_average']} before "
        f"the first server started; {VLLM.replace('==', ' ')}, torch {facts['versions']['torch']}, "
        f"one thread a server and one for the client.\n"
    )
    (folder / "machine.md").write_text(words, encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
