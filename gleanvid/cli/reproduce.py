"""``gleanvid reproduce --table N``: print or run the commands that fill a table of the paper."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gleanvid.cli.running import report, writable

if TYPE_CHECKING:
    from gleanvid.evaluation.paper.numbers import Table
    from gleanvid.evaluation.paper.reproduce import Step

DONE = "command.txt"  # file in a command's output folder, written once the command has succeeded


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--table",
        required=True,
        help="name or number of a paper table; gleanvid tables --list prints them",
    )
    parser.add_argument("--out", default="results/paper", help="output folder for the results")
    parser.add_argument("--data", type=Path, help="folder that contains one folder per benchmark")
    parser.add_argument(
        "--model",
        default="",
        help="model to run instead of the paper's: Hugging Face id or directory",
    )
    parser.add_argument(
        "--limit", type=int, help="number of questions of each benchmark (default: all)"
    )
    parser.add_argument(
        "--run",
        dest="runs",
        action="store_true",
        help="run the commands instead of printing them; finished ones are not repeated",
    )
    parser.add_argument(
        "more",
        nargs="*",
        metavar="-- OPTION",
        help="options passed to every gleanvid eval command, after --",
    )
    parser.set_defaults(run=_reproduce)


def _reproduce(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.paper.reproduce import find, steps

    table, limit = find(options.table), options.limit
    out = Path(options.out) / table.name
    more = [*(["--limit", str(limit)] if limit is not None else []), *options.more]
    found = steps(table, out, options.data, options.model, more)
    if options.runs:
        return _run(found) or _file(table, out, options.model)
    _describe(table, found, options)
    return 0


def _describe(table: Table, found: Sequence[Step], options: argparse.Namespace) -> None:
    from gleanvid.evaluation.paper.reproduce import data_size, gpu_hours

    print(f"# {table.title}: {len(table.rows)} rows")
    for step in found:
        hours = gpu_hours(table, step, options.limit)
        print(f"\n# {data_size(step.benchmark, options.data)}; {hours:,.1f} GPU hours")
        print(shlex.join(["gleanvid", *step.words]))
    print(f"\n{shlex.join(['gleanvid', *_tables(table, found[0].folder.parent, options.model)])}")
    print(
        "\n# GPU hours are estimated for one of the paper's GPUs: eight times its wall-clock "
        "seconds,\n# times questions, rows and frames. --run runs the commands."
    )


def _run(found: Sequence[Step]) -> int:
    """Run the commands in order, up to the first that fails; return its exit code, or 0."""
    from gleanvid.cli import main

    for step in found:
        line = shlex.join(["gleanvid", *step.words]) + "\n"
        done = writable(str(step.folder)) / DONE
        if done.is_file() and done.read_text(encoding="utf-8") == line:
            report(f"done already: {line.strip()}")
            continue
        report(line.strip())
        if code := main(step.words):
            report("gleanvid: the same command goes on from here")
            return code
        done.write_text(line, encoding="utf-8")
    return 0


def _tables(table: Table, out: Path, model: str) -> list[str]:
    own = ["--model", model] if model else []
    return ["tables", table.name, "--results", str(out), *own]


def _file(table: Table, out: Path, model: str) -> int:
    """Print the table, our numbers next to the paper's, and write it to the folder ``out``."""
    from gleanvid.evaluation.paper.numbers import choose, read_results
    from gleanvid.evaluation.paper.render import latex, text

    measured = choose(table, read_results([out]), model)
    (out / "table.md").write_text(text(table, measured), encoding="utf-8")
    (out / "table.tex").write_text(latex(table, measured), encoding="utf-8")
    print(text(table, measured))
    report(f"results in {out}")
    return 0
