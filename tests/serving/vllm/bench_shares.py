"""``gleanvid bench serve`` against servers of the built-in model, one for each share of tokens.

``python -m tests.serving.vllm.bench_shares --out FOLDER`` in the environment of ``make test-vllm``,
on one thread, so that the client has a core of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from tests.serving.vllm import running

RATES = (None, 0.5, 0.75, 0.9)
CLIPS = [str(running.CLIPS / f"{name}.mp4") for name in ("glimpse_1", "glimpse_2", "city", "bunny")]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--requests", default="48")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    bench = [sys.executable, "-m", "gleanvid.cli", "bench", "serve", *CLIPS, "--out", options.out]
    for rate in RATES:
        with running.server(None if rate is None else "gleanvid", rate) as url:
            subprocess.run([*bench, "--url", url, "--requests", options.requests], check=True)


if __name__ == "__main__":
    main()
