"""``gleanvid compare VIDEO QUESTION``: answer one question with several compressors."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gleanvid.cli import options as shared
from gleanvid.cli.running import writable
from gleanvid.errors import printable

if TYPE_CHECKING:
    from gleanvid.run import Run


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the options of the command."""
    shared.add_question(parser)
    parser.add_argument("--compressor", default="all", help="names, comma-separated, or all")
    parser.add_argument("--retention-ratio", type=float, default=0.25)
    parser.add_argument(
        "--figures", metavar="DIR", help="folder to write figures of these runs to (PDF, PNG)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    parser.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> int:
    from gleanvid.api import Failure, compare
    from gleanvid.compressors import title_of
    from gleanvid.metrics import saturation

    methods = shared.methods(options.compressor, options.retention_ratio)
    video, model, _ = shared.read_and_load(options)
    if not options.json:
        heads = ("tokens", "average", "ttft s", "total s", "MiB", "FLOPs saved")
        print(f"{'compressor':<14}" + "".join(f" {head:>8}" for head in heads) + "  answer")
    figures = writable(options.figures) if options.figures else None
    runs: list[Run] = []
    sampling = shared.sampling(options)
    for result in compare(video, options.question, model, methods, sampling=sampling):
        if isinstance(result, Failure):
            row = {"compressor": result.compressor.settings(), "error": str(result.error)}
            text = f"{result.compressor.title:<14} failed: {result.error}"
        else:
            runs.append(result)
            row, cost = result.summary(), result.cost
            text = f"{title_of(str(result.compressor['name'])):<14} {cost.visual_tokens_kept:>8}"
            text += f" {cost.average_retention:>8.1%} {cost.ttft_s:>8.3f}"
            memory = result.device_memory_mib
            text += f" {cost.ttft_s + cost.generate_s:>8.3f}"
            text += f" {'-' if math.isnan(memory) else format(memory, '.0f'):>8}"
            text += f" {cost.flops_reduction:>11.1%}  {result.answer}"
            if sentence := str(saturation(result.compression) or ""):
                text += f"\n{'':<14} {sentence}"
        line = json.dumps(row, ensure_ascii=False) if options.json else printable(text, "\n\t")
        print(line, flush=True)
    if figures and runs:
        _draw(runs, figures)
    return 0


def _draw(runs: list[Run], folder: Path) -> None:
    """Write the budgets over time and the kept tokens on the frames, each as PDF and PNG."""
    from gleanvid.plots import paper

    for name, figure in (("budgets", paper.budgets(runs)), ("overlays", paper.overlays(runs))):
        for ending in ("pdf", "png"):
            paper.save_figure(figure, folder / f"{name}.{ending}")
