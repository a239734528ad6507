"""``gleanvid tables``: print the paper's published numbers next to our results."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from gleanvid.cli.options import add_json


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "names", nargs="*", metavar="table", help="name of a paper table to print (default: all)"
    )
    parser.add_argument("--list", action="store_true", help="print only the names of the tables")
    parser.add_argument(
        "--results",
        nargs="+",
        default=[],
        metavar="PATH",
        help="your results: output folders of gleanvid eval or reports of gleanvid bench model",
    )
    parser.add_argument(
        "--model",
        default="",
        help="model whose results are put next to the paper's (default: the paper's model)",
    )
    add_json(parser, "the tables as JSON instead of Markdown")
    parser.add_argument(
        "--latex",
        action="store_true",
        help="print LaTeX (booktabs) with your numbers, or the paper's if no results are given",
    )
    parser.set_defaults(run=_tables)


def _tables(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.paper.numbers import choose, ours, read_results, tables
    from gleanvid.evaluation.paper.render import latex, text

    known = tables()
    for name in options.names:
        if name not in known:
            raise ValueError(f"table={name!r} must be one of {', '.join(known)}")
    chosen = [known[name] for name in options.names or known]
    if options.list:
        number = {name: place for place, name in enumerate(known, 1)}
        print("\n".join(f"{number[one.name]:>2}  {one.name:<28}{one.title}" for one in chosen))
        return 0
    found = read_results(options.results)
    pairs = [(table, choose(table, found, options.model)) for table in chosen]
    if found and not any(measured for _, measured in pairs):
        raise ValueError(
            f"the results are of {', '.join(found)}, but no chosen table is about this model; "
            "use --model NAME to fill the tables with them anyway"
        )
    if options.json:
        report = [
            {
                "table": table.name,
                "columns": table.columns,
                "rows": [
                    {"label": row.label, "setup": row.setup, "paper": row.values, "ours": own}
                    for row, own in zip(
                        table.rows,
                        ours(table, measured) if measured else [None] * len(table.rows),
                        strict=True,
                    )
                ],
            }
            for table, measured in pairs
        ]
        print(json.dumps(report, indent=1, ensure_ascii=False))
    else:
        write = latex if options.latex else text
        print("\n".join(write(table, measured) for table, measured in pairs))
    return 0
