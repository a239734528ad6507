"""The evaluation on several workers or machines, by Ray Data: the same rows, the same journal.

Work is handed out by clip. CPU tasks read clips, actors that hold the model each answer all
questions about one clip, and this process alone writes the journal, a clip at a time. A worker that
dies is started anew and its clip is done again; what it had said before did not count.
"""

from __future__ import annotations

import logging
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gleanvid.evaluation.benchmarks.base import Benchmark, Item
from gleanvid.evaluation.fingerprint import fingerprint
from gleanvid.evaluation.journal import Journal
from gleanvid.evaluation.runner import Count, Progress, Work, answers, check_hows, pending
from gleanvid.evaluation.setups import Setup
from gleanvid.models.base import ModelAdapter
from gleanvid.types import ModelError, Video

Load = Callable[[], ModelAdapter]


@contextmanager
def cluster(num_workers: int, address: str | None = None) -> Iterator[int]:
    """Ray, joined at ``address`` or started here for ``num_workers`` and left again.

    Gives the GPUs of a worker: one where the cluster has any. Raises ``ModelError`` where the
    package is missing or there is no cluster at the address.
    """
    try:
        import ray
    except ImportError as error:
        raise ModelError("Several workers need the package ray: pip install 'ray[data]'") from error
    if num_workers < 1:
        raise ValueError(f"num_workers={num_workers} must be at least 1")
    local: dict[str, Any] = {}
    if address is None:  # one more than the workers, or reading would wait for them for ever
        cpus = max(os.cpu_count() or 1, num_workers + 1)
        local = {"num_cpus": cpus, "include_dashboard": False}
    try:
        ray.init(
            address=address or "local", log_to_driver=False, logging_level=logging.ERROR, **local
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ModelError(f"There is no Ray cluster at {address!r}: {error}") from error
    try:
        yield int("GPU" in ray.cluster_resources())
    finally:
        ray.shutdown()


def describe(load: Load, num_gpus: float = 0) -> tuple[str, str]:
    """Name and fingerprint of the model, loaded where the workers will load theirs."""
    import ray

    def look() -> tuple[str, str]:
        model = load()
        return model.name, fingerprint(model.hf_model)

    found: tuple[str, str] = ray.get(ray.remote(num_gpus=num_gpus, num_cpus=1)(look).remote())
    return found


def evaluate_on_workers(
    load: Load,
    num_workers: int,
    num_gpus: float,
    benchmark: Benchmark,
    items: Sequence[Item],
    setups: Sequence[Setup],
    journal: Journal,
    hows: Sequence[str] = (),
    on_progress: Callable[[Progress], None] | None = None,
    max_pixels: int | None = None,
) -> None:
    """``runner.evaluate`` inside :func:`cluster`; every worker gets its model from ``load``.

    ``num_gpus``: of each worker. Raises what ``evaluate`` raises, and ``ModelError`` where the
    workers cannot be kept alive; what was answered until then is in the journal.
    """
    import ray

    ways = tuple(hows) or (benchmark.how,)
    check_hows(benchmark, ways)
    unique = list({setup.key: setup for setup in setups}.values())
    left = list(pending(items, unique, journal))
    if not left:
        return
    read: Any = _read  # Ray's own types know no further arguments
    parts = [{"part": pickle.dumps(part)} for part in left]
    answered = (
        ray.data.from_items(parts, override_num_blocks=len(parts))
        .map(read, fn_args=(benchmark,), num_cpus=1)
        .map_batches(
            _Worker,
            fn_constructor_args=(load, benchmark, ways, max_pixels),
            batch_size=1,
            batch_format="numpy",
            compute=ray.data.ActorPoolStrategy(size=num_workers),
            num_gpus=num_gpus,
            num_cpus=0,
        )
    )
    total = len(items) * len(unique)
    count = Count(total, total - sum(len(asked) for *_, work in left for _, asked in work))
    try:
        for out in answered.iter_rows():
            clip, rows = pickle.loads(out["rows"])
            for row in rows:
                journal.append(row)
                if on_progress:
                    on_progress(count.after(row, clip))
    except ray.exceptions.RayError as error:
        raise ModelError(
            f"The workers cannot go on: {_reason(error)} The answers so far are kept; the same "
            "command goes on from there."
        ) from error


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__).rstrip(".") + "."


def _read(row: dict[str, Any], benchmark: Benchmark) -> dict[str, Any]:
    """A clip's frames, or why there are none, beside what is asked about it."""
    clip, num_frames, _ = pickle.loads(row["part"])
    seen: Video | Exception
    try:
        seen = benchmark.video(clip, num_frames)
    except Exception as error:
        seen = error
    return {"part": row["part"], "seen": pickle.dumps(seen)}


class _Worker:
    """Holds a model and answers everything that is asked about one clip."""

    def __init__(
        self, load: Load, benchmark: Benchmark, hows: Sequence[str], max_pixels: int | None
    ) -> None:
        self.model, self.benchmark = load(), benchmark
        self.hows, self.max_pixels = hows, max_pixels

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        part: tuple[str, int, Work] = pickle.loads(batch["part"][0])
        clip, num_frames, work = part
        given: Any = _AsRead(self.benchmark, pickle.loads(batch["seen"][0]))
        rows = list(answers(self.model, given, clip, num_frames, work, self.hows, self.max_pixels))
        return {"rows": [pickle.dumps((clip, rows))]}


class _AsRead:
    """A benchmark one of whose clips was read elsewhere."""

    def __init__(self, benchmark: Benchmark, seen: Video | Exception) -> None:
        self._benchmark, self._seen = benchmark, seen

    def video(self, clip: str, num_frames: int) -> Video:
        """The clip, or the error of reading it."""
        if isinstance(self._seen, Exception):
            raise self._seen
        return self._seen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._benchmark, name)
