"""The command line: ``gleanvid COMMAND``. A new command is one file here and one line below.

A command's module has ``add(parser, words)``, which adds its options to the parser, and with
``set_defaults(run=...)`` the function that runs it and returns the exit code. ``words`` is the
whole command line. Only the module of the command in use is imported.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from gleanvid.errors import ModelError, VideoError, printable
from gleanvid.later import import_later

COMMANDS = {  # name -> its line in the help
    "app": "the page in the browser",
    "ask": "answer a question about a video with fewer tokens",
    "compare": "the same question under several compressors",
    "compress": "kept tokens, masks and budgets of every video of a folder, as NPZ",
    "relevance": "which tokens an answer rests on, and how much of that a compressor keeps",
    "record": "what clips are to a model, as files that need no model to study",
    "diagnose": "how rich, new and spread the kept tokens are, on a folder of videos",
    "eval": "accuracy of compressors on a benchmark",
    "lmms-eval": "LMMs-Eval on compressed models; fails where one of its questions did",
    "tables": "the paper's numbers, next to yours",
    "check": "whether compression is right and fast on this machine, with a report",
    "bench": "measure",
    "methods": "the compressors side by side: where they act, what they need, what they cost",
    "models": "known checkpoints: size, memory, licence, tests",
    "glimpse": "the procedural video world",
    "space": "a folder that is a Hugging Face Space of the app",
}
MODULES = {"methods": "lists", "models": "lists"}  # others are named as their command


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The options of a command line; ``run`` among them does the work."""
    parser = argparse.ArgumentParser(prog="gleanvid", description="Ask videos with fewer tokens.")
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, help_text in COMMANDS.items():
        command = commands.add_parser(name, help=help_text)
        if name in words[:1]:
            module = MODULES.get(name, name.replace("-", "_"))
            import_module(f"gleanvid.cli.{module}").add(command, words)
    return parser.parse_args(words)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (2: bad input, with one sentence on stderr)."""
    import_later("torch")  # which options and tables are made without
    try:
        options = parse(list(sys.argv[1:] if arguments is None else arguments))
        return options.run(options)
    except (ValueError, VideoError, ModelError) as error:
        sys.stderr.write(f"gleanvid: {printable(str(error))}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("gleanvid: stopped\n")
        return 130
