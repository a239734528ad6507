"""Parser of command lines: states defaults in its help, and knows options by their other names."""

from __future__ import annotations

import argparse
import re
from difflib import get_close_matches
from typing import Any

# What people write instead. An option has both names in every command.
OTHER_NAMES = {
    "--compressor": "--compressors",
    "--retention-ratio": "--retention-ratios",
    "--num-frames": "--frames",
    "--frames": "--num-frames",
    "--max-new-tokens": "--new-tokens",
    "--new-tokens": "--max-new-tokens",
}


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
    """A parser, like its subcommands' parsers, that shows default values in the help.

    An unknown option is an error of the command, which names the closest option.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **{"formatter_class": _Help, **named})

    def add_argument(self, *flags: Any, **named: Any) -> argparse.Action:
        """Add an argument; an option in ``OTHER_NAMES`` also gets its second name."""
        others = [OTHER_NAMES[flag] for flag in flags if flag in OTHER_NAMES]
        return super().add_argument(*dict.fromkeys([*flags, *others]), **named)

    def parse_known_args(self, *given: Any, **named: Any) -> tuple[Any, list[str]]:
        """Parse a command line; exit with an error that suggests an option if one is unknown."""
        found, unknown = super().parse_known_args(*given, **named)
        if unknown:
            known = re.findall(r"--[a-z-]+", self.format_usage())
            near = get_close_matches(unknown[0].partition("=")[0], known, 1, cutoff=0.75)
            hint = f"; did you mean {near[0]}?" if near else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return found, unknown
