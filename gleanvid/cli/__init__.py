"""The command line: ``gleanvid COMMAND``. A new command is one file here and one line below.

A command's module has ``add(commands, given)``, which adds its parser, and with
``set_defaults(run=...)`` the function that runs it and returns the exit code.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from gleanvid.cli import (
    ask,
    bench,
    compare,
    compress,
    diagnose,
    eval,
    glimpse,
    lmms_eval,
    models,
    tables,
)
from gleanvid.types import ModelError, VideoError

COMMANDS = (ask, compare, compress, diagnose, eval, lmms_eval, tables, bench, models, glimpse)


def parse(given: Sequence[str]) -> argparse.Namespace:
    """The options of a command line; ``run`` among them does the work."""
    parser = argparse.ArgumentParser(prog="gleanvid", description="Ask videos with fewer tokens.")
    commands = parser.add_subparsers(required=True, metavar="command")
    for command in COMMANDS:
        command.add(commands, given)
    return parser.parse_args(given)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (2: bad input, with one sentence on stderr)."""
    options = parse(list(sys.argv[1:] if arguments is None else arguments))
    try:
        return options.run(options)
    except (ValueError, VideoError, ModelError) as error:
        sys.stderr.write(f"gleanvid: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("gleanvid: stopped\n")
        return 130
