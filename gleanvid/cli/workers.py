"""Where ``gleanvid eval`` does its work: in this process, or on workers of a Ray cluster."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial


def add_workers(parser: argparse.ArgumentParser) -> None:
    """``--num-workers`` and ``--address``."""
    add = parser.add_argument_group("several workers (Ray)").add_argument
    add("--num-workers", type=int, help="processes that each hold the model (default: this one)")
    add("--address", help="of a running Ray cluster, or auto (default: one is started here)")


@contextmanager
def workers(options: argparse.Namespace) -> Iterator[tuple[str, str, Callable[..., None]]]:
    """Name and fingerprint of the model, and the function that evaluates with it.

    A worker gets a GPU where the cluster has any.
    """
    from gleanvid.models import load_model

    load = partial(load_model, options.model, options.device, options.dtype)
    if options.num_workers is None and options.address is None:
        from gleanvid.evaluation.fingerprint import fingerprint
        from gleanvid.evaluation.runner import evaluate

        model = load()
        yield model.name, fingerprint(model.hf_model), partial(evaluate, model)
        return
    from gleanvid.evaluation.ray_runner import cluster, describe, evaluate_on_workers

    count = 1 if options.num_workers is None else options.num_workers
    with cluster(count, options.address) as num_gpus:
        name, weights = describe(load, num_gpus)
        yield name, weights, partial(evaluate_on_workers, load, count, num_gpus)
