"""Starts or joins a Ray cluster and hands clips to workers, each of which holds the model.

Ray tasks on the CPU read the clips, and workers (Ray actors) run the model on them. Results stream
back to this process, the only one that writes files. A worker that dies is restarted, and its clip
is tried again. A clip that kills its worker ``ATTEMPTS`` times counts as failed.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from gleanvid import plugins
from gleanvid.evaluation.provenance import describe_model
from gleanvid.models.base import ModelAdapter
from gleanvid.types import ModelError

Load = Callable[[], ModelAdapter]
ATTEMPTS = 3  # how often a clip is tried at most if its worker process dies
_LOG = logging.getLogger(__name__)
MISSING = (
    "Several workers need the package ray. Install it with the extra ray: pip install '.[ray]'"
)


@contextmanager
def cluster(num_workers: int, address: str | None = None) -> Iterator[int]:
    """While the block runs, be part of a Ray cluster: the one at ``address``, or a new one here.

    If this process is part of a cluster already, that cluster is used, and not left at the end.
    Yields the number of GPUs for each worker: 1 if the cluster has GPUs, else 0. Raises
    ``ModelError`` if the package ray is missing, there is no cluster at the address, or none can be
    started.
    """
    try:
        import ray
    except ImportError as error:
        raise ModelError(MISSING) from error
    if num_workers < 1:
        raise ValueError(f"num_workers={num_workers} must be at least 1")
    if ray.is_initialized():  # the caller started Ray and also shuts it down
        yield int("GPU" in ray.cluster_resources())
        return
    _join(num_workers, address)
    try:
        yield int("GPU" in ray.cluster_resources())
    finally:
        ray.shutdown()


def _join(num_workers: int, address: str | None) -> None:
    import ray

    # Without this, Ray's own processes print errors that are also raised as exceptions here.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    local: dict[str, Any] = {}
    if files := plugins.loaded():

        def load_plugins() -> None:  # Ray needs a __name__, which partial() lacks
            for file in files:
                plugins.load(file)

        local["runtime_env"] = {"worker_process_setup_hook": load_plugins}
    if address is None:  # at least one CPU for each worker, and one for reading clips
        cpus = max(os.cpu_count() or 1, num_workers + 1)
        local |= {"num_cpus": cpus, "include_dashboard": False}
    try:
        ray.init(
            address=address or "local", log_to_driver=False, logging_level=logging.ERROR, **local
        )
    except Exception as error:  # Ray raises bare Exceptions if a node does not start in time
        ray.shutdown()
        what = "cannot be started here" if address is None else f"has no cluster at {address!r}"
        raise ModelError(f"Ray {what}: {error}") from error


def describe(load: Load, num_gpus: float = 0) -> dict[str, Any]:
    """Return :func:`describe_model` of the model, loaded on a worker with ``num_gpus`` GPUs."""
    import ray

    def described() -> dict[str, Any]:
        return describe_model(load())

    found: dict[str, Any] = ray.get(ray.remote(num_gpus=num_gpus, num_cpus=1)(described).remote())
    return found


def on_workers(
    load: Load,
    num_workers: int,
    num_gpus: float,
    parts: Sequence[Any],
    read: Callable[[Any], Any],
    work: Callable[[Any, Any, Any], Any],
) -> Iterator[Any]:
    """Compute ``work(model, part, read(part))`` for each part on Ray workers; yield the results.

    Call it inside the context manager :func:`cluster`. Results come in the order in which they are
    done. If ``read`` raises, ``work`` gets the exception in place of the result. ``work`` itself
    must not raise. For a part whose worker died in every attempt, this process calls ``work`` with
    None as model and an exception. ``num_gpus``: GPUs of each worker; if there are too few, fewer
    workers run. Raises ``ModelError`` if a worker cannot be started.
    """
    import ray

    reader = ray.remote(num_cpus=1)(_read)
    limits = {"max_restarts": -1, "max_task_retries": ATTEMPTS - 1}
    worker: Any = ray.remote(num_cpus=0, num_gpus=num_gpus, **limits)(_Worker)
    size = min(_fitting(num_workers, num_gpus), len(parts))
    workers = [worker.remote(load, work) for _ in range(size)]
    left = iter(enumerate(parts))
    # reading is one clip ahead of every worker
    ahead = deque((number, reader.remote(read, part)) for number, part in islice(left, size))
    busy: dict[Any, tuple[Any, int]] = {}

    def give_next(worker: Any) -> None:
        for number, part in islice(left, 1):
            ahead.append((number, reader.remote(read, part)))
        if ahead:
            number, seen = ahead.popleft()
            busy[worker.work_on.remote(parts[number], seen)] = worker, number

    try:
        ray.get([worker.wait.remote() for worker in workers])
        for worker in workers:
            give_next(worker)
        while busy:
            (done, *_), _ = ray.wait([*busy])
            worker, number = busy.pop(done)
            try:
                yield ray.get(done)
            except ray.exceptions.RayError:
                died = ModelError(f"the clip's worker process died in {ATTEMPTS} attempts")
                yield work(None, parts[number], died)
                ray.get(worker.wait.remote())  # raises if the worker does not start again
            give_next(worker)
    except ray.exceptions.RayError as error:
        raise ModelError(
            f"The workers stopped: {_reason(error)} Finished results are kept; the same "
            "command continues from there."
        ) from error
    finally:
        for worker in workers:
            ray.kill(worker)


def _fitting(num_workers: int, num_gpus: float) -> int:
    """Return the number of workers to start: at most as many as the cluster's GPUs allow."""
    import ray

    there = ray.cluster_resources().get("GPU", 0)
    if not num_gpus or num_workers * num_gpus <= there:
        return num_workers
    fit = max(1, int(there // num_gpus))
    _LOG.warning("%d of %d workers run: the cluster has %g GPUs", fit, num_workers, there)
    return fit


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__).rstrip(".") + "."


def _read(read: Callable[[Any], Any], part: Any) -> Any:
    """Return the result of ``read``, or the exception that it raised."""
    try:
        return read(part)
    except Exception as error:
        return error


class _Worker:
    """Holds a model and works on one clip at a time."""

    def __init__(self, load: Load, work: Callable[[Any, Any, Any], Any]) -> None:
        self.model, self.work = load(), work

    def wait(self) -> None:
        """Return once the model is loaded."""

    def work_on(self, part: Any, seen: Any) -> Any:
        return self.work(self.model, part, seen)
