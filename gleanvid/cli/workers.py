"""Runs a long command in this process or on workers of a Ray cluster, as its options say."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from gleanvid.cli.options import loader

Act = Callable[..., None]


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
