"""``gleanvid methods`` and ``gleanvid models``: tables, printed as lists on a narrow terminal."""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence

from gleanvid.cli.options import add_json

_INDENT = "  "


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the options of ``methods`` and ``models``; ``words``: the whole command line."""
    add_json(parser, "the list as JSON instead of a table")
    help_text = "print a Markdown table of any width, even on a terminal"
    parser.add_argument("--markdown", action="store_true", help=help_text)
    parser.set_defaults(run=_methods if words[0] == "methods" else _models)


def _methods(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.catalogue import methods, methods_table

    if options.json:
        print(json.dumps([dataclasses.asdict(row) for row in methods()], indent=2))
    else:
        show(methods_table(), options.markdown)
    return 0


def _models(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.catalogue import model_table
    from gleanvid.models.loading.registry import CHECKPOINTS

    if options.json:
        rows = [dataclasses.asdict(row) | {"weights_gb": row.weights_gb} for row in CHECKPOINTS]
        print(json.dumps(rows, indent=2))
    else:
        show(model_table(), options.markdown)
    return 0


def show(markdown: str, unchanged: bool) -> None:
    """Print Markdown, unchanged into files and pipes, fitted to the width of a terminal."""
    width = shutil.get_terminal_size().columns
    fits = max(map(len, markdown.splitlines())) <= width
    print(markdown if unchanged or fits or not sys.stdout.isatty() else fitted(markdown, width))


def fitted(markdown: str, width: int) -> str:
    """Wrap Markdown to ``width`` characters; a table row becomes a name and "head: cell; ..."."""
    return "\n".join(_lines(markdown, width))


def _lines(markdown: str, width: int) -> Iterator[str]:
    heads: list[str] = []
    for line in markdown.splitlines():
        if not line.startswith("|"):
            heads = []
            yield from textwrap.wrap(line, width) or [""]
        elif not heads:
            heads = _cells(line)
        elif not line.startswith("|---"):
            first, *cells = _cells(line)
            pairs = zip(heads[1:], cells, strict=True)
            text = "; ".join(f"{head}: {cell}" for head, cell in pairs if cell)
            yield first.strip("`")
            yield from textwrap.wrap(
                text,
                width,
                initial_indent=_INDENT,
                subsequent_indent=_INDENT,
                break_long_words=False,
                break_on_hyphens=False,
            )


def _cells(line: str) -> list[str]:
    inside = re.split(r"(?<!\\)\|", line)[1:-1]
    return [cell.strip().replace("\\|", "|") for cell in inside]
