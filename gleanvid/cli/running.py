"""What long commands share: folders, the progress line, and workers of a Ray cluster."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from gleanvid.cli.options import loader

Act = Callable[..., None]


def writable(place: str) -> Path:
    """Make the folder if it is missing. Raises ``ValueError`` where that cannot be."""
    try:
        Path(place).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot write to {place}: {error}") from error
    return Path(place)


def report(text: str) -> None:
    """Print a line of progress on stderr."""
    sys.stderr.write(text + "\n")


def drawer() -> Callable[[Any], None]:
    """What draws progress on stderr: in place on a terminal, else a line every ten seconds."""
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
def resumable(folder: Path) -> Iterator[None]:
    """On Ctrl-C, say that nothing finished is lost; then re-raise."""
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


def add_workers(parser: argparse.ArgumentParser) -> None:
    """``--num-workers`` and ``--address``."""
    add = parser.add_argument_group("several workers (Ray)").add_argument
    add("--num-workers", type=int, help="processes that each hold the model (default: this one)")
    add("--address", help="of a running Ray cluster, or auto (default: one is started here)")


@contextmanager
def workers(
    options: argparse.Namespace, alone: Act, together: Act, recorded: Any = None
) -> Iterator[tuple[dict[str, Any], Act]]:
    """Name and fingerprint of the model with its processor, and the function that does the work.

    ``alone`` takes the model first; ``together`` what loads it, the number of workers and the GPUs
    of each: one where the cluster has any. ``recorded`` stands for the model of recorded clips,
    for which this process is enough.
    """
    load = loader(options)
    if recorded is not None or (options.num_workers is None and options.address is None):
        from gleanvid.evaluation.provenance import describe_model

        model = recorded or load()
        yield describe_model(model), partial(alone, model)
        return
    from gleanvid.evaluation.run.ray_cluster import cluster, describe

    count = 1 if options.num_workers is None else options.num_workers
    with cluster(count, options.address) as num_gpus:
        yield describe(load, num_gpus), partial(together, load, count, num_gpus)
