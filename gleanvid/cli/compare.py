"""``gleanvid compare VIDEO QUESTION``: the same question under several compressors."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from gleanvid.cli import options as shared


def add(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    """The options of the command."""
    shared.add_question(parser)
    parser.add_argument("--compressor", default="all", help="names, comma-separated, or all")
    parser.add_argument("--retention-ratio", type=float, default=0.25)
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    parser.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> int:
    from gleanvid.compressors import title_of
    from gleanvid.pipeline import Failure, compare

    methods = shared.methods(options.compressor, options.retention_ratio)
    video, model, _ = shared.read_and_load(options)
    if not options.json:
        heads = ("tokens", "average", "ttft s", "total s", "MiB", "FLOPs")
        print(f"{'compressor':<14}" + "".join(f" {head:>8}" for head in heads) + "  answer")
    length, drawn = options.max_new_tokens, shared.sampling(options)
    for result in compare(video, options.question, model, methods, length, **drawn):
        if isinstance(result, Failure):
            row = {"compressor": result.compressor.settings(), "error": str(result.error)}
            text = f"{result.compressor.title:<14} failed: {result.error}"
        else:
            row, cost = result.summary(), result.cost
            share = 1 - cost.flops_reduction
            text = f"{title_of(str(result.compressor['name'])):<14} {cost.visual_tokens_kept:>8}"
            text += f" {cost.average_retention:>8.1%} {cost.ttft_s:>8.3f}"
            text += f" {cost.ttft_s + cost.generate_s:>8.3f} {cost.peak_memory_mib:>8.0f}"
            text += f" {share:>8.1%}  {result.answer}"
        print(json.dumps(row, ensure_ascii=False) if options.json else text, flush=True)
    return 0
