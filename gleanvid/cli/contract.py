"""``gleanvid contract FILE``: check your own compressors and report broken invariants."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gleanvid.errors import printable


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the command's options to ``parser``; ``words``: the whole command line."""
    help_text = "Python file with compressors, or names of registered compressors"
    parser.add_argument("names", nargs="+", metavar="FILE", help=help_text)
    parser.set_defaults(run=_contract)


def _contract(options: argparse.Namespace) -> int:
    """Run the command and return its exit code: 1 if a check fails."""
    from gleanvid.compressors.base import Compressor
    from gleanvid.compressors.contract import CHECKS, findings

    failed = False
    methods = [method for name in options.names for method in _methods(name)]
    for method in methods:
        if not issubclass(method, Compressor):
            print(f"{method.__name__} is not a compressor")
            continue
        found = findings(method)
        print(f"{method.title} ({method.name})")
        if not found:
            print("  Not checked: this compressor acts only inside the language model.")
        for check, reason in found.items():
            print(printable(f"  {'FAIL' if reason else 'ok  '}  {check} {reason}".rstrip()))
        if 0 < len(found) < len(CHECKS):
            print("  This compressor raises an exception, so the other checks were not run.")
        failed = failed or any(found.values())
    return int(failed)


def _methods(name: str) -> list[type]:
    from gleanvid.compressors import COMPRESSORS
    from gleanvid.plugins import load

    return [COMPRESSORS[name]] if name in COMPRESSORS else load(name)
