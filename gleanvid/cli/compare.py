"""``gleanvid compare VIDEO QUESTION``: answer one question with several compressors."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gleanvid.cli import model_options
from gleanvid.cli import options as shared
from gleanvid.cli.running import add_html, html_writer, writable
from gleanvid.errors import printable

if TYPE_CHECKING:
    from gleanvid.attribution.relevance import Relevance
    from gleanvid.run import Run


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the command's options to ``parser``; ``words``: the whole command line."""
    shared.add_question(parser)
    parser.add_argument("--compressor", default="all", help=shared.NAMES)
    parser.add_argument("--retention-ratio", type=float, help=shared.ONE_RATIO)
    parser.add_argument(
        "--figures", metavar="DIR", help="output folder for figures of the compared runs (PDF, PNG)"
    )
    add_html(parser, "these runs")
    parser.add_argument(
        "--relevance",
        action="store_true",
        help="also measure how much relevance each compressor keeps (dependence of the answer on "
        "the tokens, by gradient)",
    )
    shared.add_json(parser, "one JSON object per compressor instead of a table")
    parser.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> int:
    from gleanvid.api import Failure, compare, relevance

    methods = shared.methods(options.compressor, options.retention_ratio)
    write_html = html_writer(options.html)
    video, model, _ = model_options.read_and_load(options)
    if not options.json:
        print(_heads(options.relevance))
    figures = writable(options.figures) if options.figures else None
    runs: list[Run] = []
    found: Relevance | None = None
    sampling = shared.sampling(options)
    for result in compare(video, options.question, model, methods, sampling=sampling):
        if isinstance(result, Failure):
            row = {"compressor": result.compressor.settings(), "error": str(result.error)}
            text = f"{result.compressor.title:<14} failed: {result.error}"
        else:
            # relevance() reuses the encoding of the clip that the first answer left in the cache.
            if options.relevance and not found:
                found = relevance(video, options.question, model)
            runs.append(result)
            depth = len(result.cost.visual_tokens_by_layer)
            kept = found.kept_over_layers(result.by_layer, depth) if found else {}
            row = result.summary() | ({"relevance": kept} if kept else {})
            text = _line(result, kept)
        line = json.dumps(row, ensure_ascii=False) if options.json else printable(text, "\n\t")
        print(line, flush=True)
    if figures and runs:
        _draw(runs, figures)
    if runs:
        write_html(runs, model)
    return int(not runs)


def _heads(with_relevance: bool) -> str:
    heads = ["tokens", "average", "ttft s", "total s", "MiB", "FLOPs saved"]
    heads += ["relevance kept"] if with_relevance else []
    return f"{'compressor':<14}" + "".join(f" {head:>8}" for head in heads) + "  answer"


def _line(run: Run, kept: Mapping[str, float]) -> str:
    """Format the table row of a run, and a sentence on its saturated units if it has any."""
    from gleanvid.compressors import title_of
    from gleanvid.metrics import saturation

    cost, memory = run.cost, run.device_memory_mib
    cells = [
        f"{title_of(str(run.compressor['name'])):<14}",
        f"{cost.visual_tokens_kept:>8}",
        f"{cost.average_retention:>8.1%}",
        f"{cost.ttft_s:>8.3f}",
        f"{cost.ttft_s + cost.generate_s:>8.3f}",
        f"{'-' if math.isnan(memory) else format(memory, '.0f'):>8}",
        f"{cost.flops_reduction:>11.1%}",
        *([f"{kept['kept']:>14.1%}"] if kept else []),
    ]
    text = f"{' '.join(cells)}  {run.answer}"
    sentence = str(saturation(run.compression) or "")
    return f"{text}\n{'':<14} {sentence}" if sentence else text


def _draw(runs: list[Run], folder: Path) -> None:
    """Draw the kept tokens per temporal unit and on the frames; save each as PDF and PNG."""
    from gleanvid.plots import paper

    for name, figure in (("budgets", paper.budgets(runs)), ("overlays", paper.overlays(runs))):
        for ending in ("pdf", "png"):
            paper.save_figure(figure, folder / f"{name}.{ending}")
