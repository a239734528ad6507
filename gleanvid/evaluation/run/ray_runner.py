"""Runs an evaluation on several workers or machines with Ray.

The journal is the same as without Ray. A worker gets one clip at a time and answers all questions
about it. The answers are then written together. If a worker dies before, its clip is repeated from
the start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain

from gleanvid.evaluation.benchmarks.base import Benchmark, Item
from gleanvid.evaluation.run.journal import AnswerRow, Journal
from gleanvid.evaluation.run.progress import Progress, keep
from gleanvid.evaluation.run.ray_cluster import Load, on_workers
from gleanvid.evaluation.run.runner import Part, answers, check_ways, missing, pending, total
from gleanvid.evaluation.run.setups import Setup
from gleanvid.models.base import ModelAdapter
from gleanvid.types import Video


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
    relevance: bool = False,
) -> None:
    """Do the same as ``runner.evaluate`` on Ray workers.

    Call it inside the context manager ``ray_cluster.cluster``. ``load`` loads a worker's model.
    ``num_gpus``: GPUs of each worker. Raises what ``evaluate`` raises, and ``ModelError`` if the
    workers cannot be kept alive. The answers until then are in the journal.
    """
    ways = tuple(ways) or (benchmark.how,)
    check_ways(benchmark, ways)
    left = pending(items, setups, journal)
    read, work = partial(_read, benchmark), partial(_answer, benchmark, ways, max_pixels, relevance)
    done = on_workers(load, num_workers, num_gpus, left, read, work)
    keep(chain.from_iterable(done), total(items, setups), missing(left), journal, on_progress)


def _read(benchmark: Benchmark, part: Part) -> Video:
    clip, num_frames, _ = part
    return benchmark.video(clip, num_frames)


def _answer(
    benchmark: Benchmark,
    ways: Sequence[str],
    max_pixels: int | None,
    relevance: bool,
    model: ModelAdapter,
    part: Part,
    seen: Video | Exception,
) -> list[AnswerRow]:
    """Answer all questions about a clip; return the journal rows."""

    def read() -> Video:
        if isinstance(seen, Exception):
            raise seen
        return seen

    return list(answers(model, benchmark, read, part[2], ways, max_pixels, relevance))
