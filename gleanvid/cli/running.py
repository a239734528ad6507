"""Shared parts of long commands: output folders and the progress line."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gleanvid.cli.app import app_module
from gleanvid.errors import printable

LONG_S = 2.0  # work that takes less shows no progress


def writable(place: str) -> Path:
    """Make the folder if it is missing. Raises ``ValueError`` if it cannot be written."""
    try:
        Path(place).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            return Path(place)
    except OSError as error:
        raise ValueError(f"cannot write to {place}: {error}") from error


def add_html(parser: argparse.ArgumentParser, runs: str) -> None:
    """Add ``--html``, see :func:`html_writer`; ``runs``: what the help says is shown."""
    about = f"HTML file to write an offline viewer of {runs} to (needs the app)"
    parser.add_argument("--html", metavar="FILE", help=about)


def html_writer(file: str | None) -> Callable[[Sequence[Any], Any], None]:
    """Return a function that writes runs of one clip to ``file`` as an HTML viewer.

    The function takes the runs and their model. The viewer shows the first run as A (the baseline)
    and the second as B. Without a ``file`` the function does nothing. Raises ``ValueError`` if a
    ``file`` is named and the app is not installed.
    """
    if not file:
        return lambda runs, model: None
    take_away = app_module("export.take_away")

    def write(runs: Sequence[Any], model: Any) -> None:
        from gleanvid.api.pipeline import remembered
        from gleanvid.models.encoded import ClipKey

        encoded = remembered(ClipKey(runs[0].video, model.name, None), model)
        in_order = [*runs[1:2], *runs[:1], *runs[2:]]  # the viewer expects run B before run A
        text = take_away.web_page(in_order, encoded.tokens if encoded else None)
        Path(file).write_text(text, encoding="utf-8")
        report(f"saved to {file}")

    return write


def report(text: str) -> None:
    """Print a line of progress on stderr."""
    sys.stderr.write(printable(text) + "\n")


def report_long() -> Callable[[str], None]:
    """Return :func:`report`, but silent for the first ``LONG_S`` seconds."""
    started = time.monotonic()
    return lambda text: report(text) if time.monotonic() - started > LONG_S else None


def drawer() -> Callable[[Any], None]:
    """Return a function that draws a ``Progress`` as a bar on stderr, after ``LONG_S`` seconds.

    It draws at most every 0.1 s on a terminal, and at most every 10 s elsewhere.
    """
    live = sys.stderr.isatty()
    due = [LONG_S]

    def draw(step: Any) -> None:
        finished = step.done == step.total
        if step.elapsed_s < (LONG_S if finished else due[0]):
            return
        due[0] = step.elapsed_s + (0.1 if live else 10.0)
        is_known = step.remaining_s is not None and not finished
        left = f", {clock(step.remaining_s)} left" if is_known else ""
        failed = f", {step.failed} failed" if step.failed else ""
        share = step.done / step.total
        bar = "#" * round(24 * share) + "-" * (24 - round(24 * share))
        text = (
            f"[{bar}] {step.done}/{step.total} {share:.0%}{failed}, {clock(step.elapsed_s)}{left}"
        )
        line = f"\r\033[K{text}" if live else text
        sys.stderr.write(line if live and not finished else line + "\n")
        sys.stderr.flush()

    return draw


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """On Ctrl-C, print that finished work is kept, then re-raise the interrupt."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        report(f"gleanvid: {folder} keeps what is finished; the same command goes on from there")
        raise


def clock(seconds: float) -> str:
    """Format seconds as 1:02:03, or 2:03 below an hour."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
