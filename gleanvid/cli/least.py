"""``gleanvid least VIDEO QUESTION``: the least retention ratio that keeps the answer."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gleanvid.cli import model_options
from gleanvid.cli import options as shared
from gleanvid.errors import printable

if TYPE_CHECKING:
    from gleanvid.metrics.least import Least

HEADS = f"{'compressor':<14} {'keeps it':>9} {'tokens':>7} {'loses it':>9}  with the answer"


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the command's options to ``parser``; ``words``: the whole command line."""
    shared.add_question(parser)
    names = f"{shared.NAMES} (default: gleanvid,vidcom2,uniform)"
    parser.add_argument("--compressor", default="gleanvid,vidcom2,uniform", help=names)
    parser.add_argument(
        "--answer", help="answer that has to stay (default: the answer with all tokens)"
    )
    parser.add_argument("--low", type=float, default=0.01, help="lowest retention ratio to try")
    parser.add_argument(
        "--high", type=float, default=1.0, help="try only retention ratios below this value"
    )
    parser.add_argument(
        "--passes",
        type=int,
        default=7,
        help="maximum number of answers generated for each compressor",
    )
    shared.add_json(parser, "one JSON object per compressor with every ratio tried")
    parser.set_defaults(run=_least)


def _least(options: argparse.Namespace) -> int:
    from gleanvid.api import ask, least
    from gleanvid.metrics.least import check_search

    check_search(options.low, options.high, options.passes)
    methods = [one for one in shared.methods(options.compressor, None) if one.name != "full"]
    video, model, _ = model_options.read_and_load(options)
    sampling, answer = shared.sampling(options), options.answer
    if answer is None:
        answer = ask(video, options.question, model, "full", sampling=sampling).answer
    if not options.json:
        print(printable(f"answer to keep: {answer}\n\n{HEADS}", "\n"), flush=True)
    bounds = {"low": options.low, "high": options.high, "passes": options.passes}
    for method in methods:
        found = least(video, options.question, model, method, answer, sampling=sampling, **bounds)
        text = json.dumps(found.summary(), ensure_ascii=False) if options.json else _line(found)
        print(printable(text, "\n"), flush=True)
    return 0


def _line(found: Least) -> str:
    """Format the table row of a compressor, followed by a sentence in special cases.

    These are: all tried ratios or none keep the answer, the highest ratio that does not keep it was
    refused, or a lower ratio keeps it again.
    """
    from gleanvid.metrics.least import percent

    above, below = found.above, found.below
    keeps = percent(above.ratio) if above else "-"
    tokens = above.tokens if above else "-"
    loses = percent(below.ratio) if below else "-"
    other = (below.run.answer if below.run else "(refused)") if below else ""
    row = f"{found.method:<14} {keeps:>9} {tokens:>7} {loses:>9}  {other}"
    is_plain = above and below and below.run and not found.came_back
    return row if is_plain else f"{row}\n{'':<14} {found}"
