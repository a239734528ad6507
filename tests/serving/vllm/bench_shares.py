"""``gleanvid bench serve`` against servers of the built-in model, one for each share of tokens.

``python -m tests.serving.vllm.bench_shares --out FOLDER`` in the environment of ``make test-vllm``,
on one thread, so that the client has a core of its own. What the folder holds of an earlier run is
replaced.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from gleanvid.evaluation.bench import bench_pauses, bench_serve
from tests.serving.vllm import running

CLIPS = [str(running.CLIPS / f"{name}.mp4") for name in ("glimpse_1", "glimpse_2", "city", "bunny")]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--requests", default="32")
    parser.add_argument("--rates", default="0,0.5,0.75,0.9", help="shares that go, 0 for none")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    bench = [sys.executable, "-m", "gleanvid.cli", "bench", "serve", *CLIPS, "--out", options.out]
    for name in (bench_serve.NAME, bench_pauses.NAME):
        (Path(options.out) / name).unlink(missing_ok=True)
    for rate in (float(part) or None for part in options.rates.split(",")):
        with running.server(None if rate is None else "gleanvid", rate) as url:
            subprocess.run([*bench, "--url", url, "--requests", options.requests], check=True)


if __name__ == "__main__":
    main()
