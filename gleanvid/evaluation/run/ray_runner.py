"""The evaluation on several workers or machines, by Ray Data: the same rows, the same journal.

Work is handed out by clip: a worker answers all questions about one, and the answers are written
together. If a worker dies in between, its clip is done again from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gleanvid.evaluation.benchmarks.base import Benchmark, Item
from gleanvid.evaluation.run.journal import Journal
from gleanvid.evaluation.run.ray_cluster import Load, on_workers
from gleanvid.evaluation.run.rows import AnswerRow
from gleanvid.evaluation.run.runner import Count, Progress, Work, answers, check_ways, pending
from gleanvid.evaluation.run.setups import Setup
from gleanvid.models.base import ModelAdapter
from gleanvid.types import Video

Part = tuple[str, int, Work]  # clip, frames, what is asked about it


def evaluate_on_workers(
    load: Load,
    num_workers: int,
    num_gpus: float,
    benchmark: Benchmark,
    items: Sequence[Item],
    setups: Sequence[Setup],
    journal: Journal,
    ways: Sequence[str] = (),
    on_progress: Callable[[Progress], None] | None = None,
    max_pixels: int | None = None,
) -> None:
    """``runner.evaluate`` inside ``ray_cluster.cluster``; a worker gets its model from ``load``.

    ``num_gpus``: of each worker. Raises what ``evaluate`` raises, and ``ModelError`` where the
    workers cannot be kept alive; what was answered until then is in the journal.
    """
    ways = tuple(ways) or (benchmark.how,)
    check_ways(benchmark, ways)
    unique = list({setup.key: setup for setup in setups}.values())
    left = list(pending(items, unique, journal))
    total = len(items) * len(unique)
    count = Count(total, total - sum(len(asked) for *_, work in left for _, asked in work))
    read, work = partial(_read, benchmark), partial(_answer, benchmark, ways, max_pixels)
    for clip, rows in on_workers(load, num_workers, num_gpus, left, read, work):
        for row in rows:
            journal.append(row)
            if on_progress:
                on_progress(count.after(row, clip))


def _read(benchmark: Benchmark, part: Part) -> Video:
    clip, num_frames, _ = part
    return benchmark.video(clip, num_frames)


def _answer(
    benchmark: Benchmark,
    ways: Sequence[str],
    max_pixels: int | None,
    model: ModelAdapter,
    part: Part,
    seen: Video | Exception,
) -> tuple[str, list[AnswerRow]]:
    """The clip and a row for every question about it."""
    as_read: Any = _AsRead(benchmark, seen)
    return part[0], list(answers(model, as_read, *part, ways, max_pixels))


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
