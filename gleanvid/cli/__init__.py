"""The command line: ``gleanvid COMMAND``.

A new command needs a file here and a line in COMMANDS. Its module has a function
``add(parser, words)``, where ``words`` is the whole command line. It adds the command's options to
the parser and calls ``parser.set_defaults(run=...)`` with the function that runs the command and
returns the exit code. Only the module of the command in use is imported.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module

import gleanvid
from gleanvid.cli.options import load_plugins
from gleanvid.cli.parser import Parser
from gleanvid.errors import closed_pipe, printable, sentence
from gleanvid.later import import_later

COMMANDS = {  # command name -> description in the help
    "app": "start the web app",
    "ask": "answer a question about a video with fewer tokens",
    "compare": "answer one question with several compressors",
    "compress": "write kept tokens, masks and budgets of videos as NPZ",
    "least": "find the lowest retention ratio at which an answer stays the same",
    "relevance": "measure which tokens an answer depends on and how many of them stay",
    "record": "store the tokens of videos, to study compressors without the model",
    "eval": "measure the accuracy of compressors on a benchmark or your own questions",
    "lmms-eval": "run LMMs-Eval on a model whose visual tokens are compressed",
    "contract": "check that a compressor keeps its budget and gives valid records",
    "check": "check that compression works exactly with a model here",
    "bench": "measure time and memory of compressors, models and servers",
    "methods": "list the compressors with paper, licence and requirements",
    "models": "list known model checkpoints with size, memory and licence",
    "glimpse": "generate clips and questions of the synthetic Glimpse benchmark",
    "space": "write the files of a Hugging Face Space that runs the app",
}
# command -> module, if their names differ by more than hyphens and underscores
MODULES = {"methods": "lists", "models": "lists"}


class _Version(argparse.Action):
    """Prints the version. Looks it up only for ``--version``, unlike argparse's "version"."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: object) -> None:
        print(f"gleanvid {gleanvid.__version__}")
        parser.exit()


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parse a command line; ``run`` of the result is the function that does the work."""
    about = "Ask Video LLMs about videos while keeping only part of the visual tokens."
    parser = Parser(prog="gleanvid", description=about)
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, help_text in COMMANDS.items():
        command = commands.add_parser(name, help=help_text)
        if name in words[:1]:
            load_plugins(command, words)  # before ``add``, which makes options for plug-in classes
            module = MODULES.get(name, name.replace("-", "_"))
            import_module(f"gleanvid.cli.{module}").add(command, words)
    return parser.parse_args(words)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 2 for bad input, with one sentence on stderr."""
    import_later("torch")  # slow to import; parsing options does not need it
    # one sentence, without the line of code that a warning comes from
    warnings.formatwarning = lambda message, *_, **__: f"gleanvid: {message}\n"
    try:
        options = parse(list(sys.argv[1:] if arguments is None else arguments))
        status = options.run(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        return closed_pipe()
    except Exception as error:
        text = sentence(error) or (str(error) if isinstance(error, OSError) else "")
        if not text:
            raise
        sys.stderr.write(f"gleanvid: {printable(text)}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("gleanvid: stopped\n")
        return 130
