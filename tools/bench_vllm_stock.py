"""Measure requests a second for videos pruned by GleanVID and by vLLM's own method.

``python -m tools.bench_vllm_stock --out FOLDER`` in the environment of ``make test-vllm`` writes
``stock.md``. Both servers are started first; then each is measured once a round, while the other
sleeps, so that a change of the machine's load affects both.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from gleanvid.evaluation.bench.bench_serve import measure
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.serving.vllm.client import Server
from tests.serving.vllm import running
from tools.bench_vllm_ratios import CLIPS

RATE = 0.75  # fraction of every video's tokens that is dropped
NEW_TOKENS = 16
# vLLM 0.32's own pruning of Qwen3-VL fails if start and end tokens surround the whole video in the
# prompt. transformers keeps them from 5.10 on (``outer_marks`` in results/vllm-cpu/upstream.py).
MARKED, BARE = "<|vision_start|><|video_pad|><|vision_end|>", "<|video_pad|>"
# label -> GleanVID's method (None: vLLM's own pruning), pruning rate; first: the baseline
SERVERS = {"EVS of vLLM, 25%": (None, RATE), "gleanvid 25%": ("gleanvid", RATE)}
Rates = Mapping[str, Mapping[int, Sequence[float]]]  # server -> concurrency -> requests/s


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--concurrency", default="8,32", help="requests at once, comma-separated")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    options.out.mkdir(parents=True, exist_ok=True)
    levels = [int(part) for part in options.concurrency.split(",")]
    loads = [os.getloadavg()[0]]
    template = options.out / "template.jinja"
    template.write_text((running.MODEL / "chat_template.jinja").read_text().replace(MARKED, BARE))
    with ExitStack() as stack:
        stack.callback(template.unlink)

        def start(label: str) -> Server:
            server = running.server(*SERVERS[label], "--chat-template", str(template))
            return Server(stack.enter_context(server))

        with ThreadPoolExecutor(2) as pool:
            servers = dict(zip(SERVERS, pool.map(start, SERVERS), strict=True))
        rates = in_turns(servers, levels, options.rounds)
        loads.append(os.getloadavg()[0])
    text = (
        f"Load average {loads[0]:.1f} before the first server started, {loads[1]:.1f} at the end."
    )
    (options.out / "stock.md").write_text(f"{table(rates)}\n{text}\n", encoding="utf-8")
    return 0


def in_turns(servers: Mapping[str, Server], levels: Sequence[int], rounds: int) -> Rates:
    """Measure each server in every round, with each of the ``levels`` of simultaneous requests."""
    clips = [Path(clip) for clip in CLIPS]
    rates: dict[str, dict[int, list[float]]] = {label: {} for label in servers}
    for turn in range(rounds):
        for at_once in levels:
            for label in list(servers)[:: -1 if turn % 2 else 1]:
                (load,) = measure(servers[label], clips, [at_once], at_once, NEW_TOKENS)
                rates[label].setdefault(at_once, []).append(load.requests_per_s)
    return rates


def table(rates: Rates) -> str:
    """Return a table of requests a second by round, with medians relative to the first server."""
    stock = next(iter(rates))
    heads = ["videos", "at once", "requests/s, each round", f"against {stock}"]
    rows = []
    for label, levels in rates.items():
        for at_once, found in levels.items():
            ratio = median(found) / median(rates[stock][at_once])
            each = ", ".join(f"{one:.3g}" for one in found)
            rows.append((label, str(at_once), each, f"{ratio:.2f}x"))
    return markdown_table(heads, rows)


if __name__ == "__main__":
    raise SystemExit(main())
