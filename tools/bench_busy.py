"""Time ``compress`` alone and next to processes that keep the cores busy; print the ratio.

``python tools/bench_busy.py`` uses tokens like those of the built-in model; ``--grid 32x14x14
--width 3584`` uses tokens like those of a large one. Run it on an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.bench.bench_compress import made_up_tokens
from gleanvid.types import VideoTokens


def median_s(tokens: VideoTokens, repeats: int) -> float:
    method, seconds = GleanVID(), []
    method.compress(tokens)
    for _ in range(repeats):
        started = time.perf_counter()
        method.compress(tokens)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def busy(stack: ExitStack) -> None:
    """Start a process that computes until ``stack`` is closed."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    stack.callback(process.wait)
    stack.callback(process.kill)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--grid", default="16x8x8", help="size of the clip in tokens: units x rows x columns"
    )
    parser.add_argument("--width", type=int, default=320)
    parser.add_argument("--repeats", type=int, default=31)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    tokens = made_up_tokens(tuple(map(int, options.grid.split("x"))), options.width, "cpu")
    print(f"{options.grid}, width {options.width}; load before {os.getloadavg()[0]:.1f}")
    idle = median_s(tokens, options.repeats)
    with ExitStack() as stack:
        for _ in range(options.processes):
            busy(stack)
        time.sleep(1)
        beside = median_s(tokens, options.repeats)
    print(
        f"alone {1e3 * idle:.1f} ms, with {options.processes} busy processes {1e3 * beside:.1f} ms"
    )
    print(f"ratio {beside / idle:.2f}")


if __name__ == "__main__":
    main()
