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

from gleanvid.cli.options import load_plugins
from gleanvid.errors import printable, sentence
from gleanvid.later import import_later

COMMANDS = {  # name -> its line in the help
    "app": "start the web app",
    "ask": "answer a question about a video with fewer tokens",
    "compare": "answer one question with several compressors",
    "compress": "write kept tokens, masks and budgets of videos as NPZ",
    "count": "how many tokens a video will be, before it is decoded",
    "least": "find the least retention ratio that keeps an answer",
    "relevance": "show which tokens an answer rests on, and how much of that a method keeps",
    "record": "store the tokens of clips, to study them without the model",
    "diagnose": "diversity, novelty and spread of the kept tokens of videos",
    "eval": "accuracy of compressors on a benchmark",
    "lmms-eval": "run LMMs-Eval on a compressed model",
    "tables": "the paper's numbers next to yours",
    "reproduce": "the commands of a table of the paper: print them, run them",
    "new": "write a compressor of your own and its test",
    "contract": "check a compressor of your own: budgets, records, precision",
    "check": "check that compression is exact on this machine, and time it",
    "bench": "time and memory of compressors, models and servers",
    "methods": "list the compressors",
    "models": "list known checkpoints: size, memory, licence, tests",
    "glimpse": "write clips of the Glimpse benchmark",
    "space": "write a Hugging Face Space of the app",
}
MODULES = {"methods": "lists", "models": "lists"}  # others are named as their command


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parse a command line; ``run`` of the result is the function that does the work."""
    about = "Ask questions about videos with only part of their visual tokens."
    parser = argparse.ArgumentParser(prog="gleanvid", description=about)
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, help_text in COMMANDS.items():
        command = commands.add_parser(name, help=help_text)
        if name in words[:1]:
            load_plugins(command, words)  # their methods have options, too
            module = MODULES.get(name, name.replace("-", "_"))
            import_module(f"gleanvid.cli.{module}").add(command, words)
    return parser.parse_args(words)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 2 for bad input, with one sentence on stderr."""
    import_later("torch")  # slow to import; parsing options and printing tables need none
    try:
        options = parse(list(sys.argv[1:] if arguments is None else arguments))
        return options.run(options)
    except Exception as error:
        text = sentence(error) or (str(error) if isinstance(error, OSError) else "")
        if not text:
            raise
        sys.stderr.write(f"gleanvid: {printable(text)}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("gleanvid: stopped\n")
        return 130
