"""Parser of command lines whose help states default values."""

from __future__ import annotations

import argparse
from typing import Any


class _Help(argparse.HelpFormatter):
    """Adds the default value to the help of options whose help does not mention one."""

    def _get_help_string(self, action: argparse.Action) -> str:
        text = action.help or ""
        value = action.default
        has_value = isinstance(value, str | int | float) and not isinstance(value, bool)
        if not has_value or value in ("", argparse.SUPPRESS) or "default" in text:
            return text
        return f"{text} (default: %(default)s)"


class Parser(argparse.ArgumentParser):
    """A parser, like its subcommands' parsers, that shows default values in the help."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **{"formatter_class": _Help, **named})
