"""The progress line of long commands, and what they print when stopped by Ctrl+C."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def drawer() -> Callable[[Any], None]:
    """Draws progress on standard error: in place on a terminal, else a line every ten seconds."""
    live = sys.stderr.isatty()
    last = [float("-inf")]

    def draw(step: Any) -> None:
        finished = step.done == step.total
        if step.elapsed_s - last[0] < (0.1 if live else 10.0) and not finished:
            return
        last[0] = step.elapsed_s
        left = "" if step.remaining_s is None else f", {clock(step.remaining_s)} left"
        failed = f", {step.failed} failed" if step.failed else ""
        share = step.done / step.total
        bar = "#" * round(24 * share) + "-" * (24 - round(24 * share))
        text = (
            f"[{bar}] {step.done}/{step.total} {share:.0%}{failed}, {clock(step.elapsed_s)}{left}"
        )
        sys.stderr.write(f"\r\033[K{text}" if live else text + "\n")
        sys.stderr.flush()

    return draw


@contextmanager
def telling_what_is_kept(folder: Path) -> Iterator[None]:
    """Ctrl-C says that nothing finished is lost, and goes on as Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write(f"\ngleanvid: {folder} keeps what is finished; the same command goes on ")
        sys.stderr.write("from there\n")
        raise


def clock(seconds: float) -> str:
    """1:02:03, or 2:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
