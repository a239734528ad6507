"""Tables on a terminal: those too wide for it become a list, a row of the table an entry."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator

_INDENT = "  "


def add_markdown(parser: argparse.ArgumentParser) -> None:
    """``--markdown``, for :func:`show`."""
    help_text = "print a Markdown table on a terminal too, however wide"
    parser.add_argument("--markdown", action="store_true", help=help_text)


def show(markdown: str, as_it_is: bool) -> None:
    """Print Markdown: as it is into files and pipes, else so that it fits the terminal."""
    width = shutil.get_terminal_size().columns
    fits = max(map(len, markdown.splitlines())) <= width
    print(markdown if as_it_is or fits or not sys.stdout.isatty() else fitted(markdown, width))


def fitted(markdown: str, width: int) -> str:
    """Every row of a table as its first cell and, below it, "head: cell" of the others."""
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
