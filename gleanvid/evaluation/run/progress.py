"""Write results into a journal as they come, and report progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gleanvid.evaluation.run.journal import Journal


@dataclass(frozen=True)
class Progress:
    """Progress of a long run. ``remaining_s`` is None until there is a result."""

    done: int
    total: int
    failed: int
    elapsed_s: float
    remaining_s: float | None


def keep(
    rows: Iterable[Mapping[str, Any]],
    total: int,
    left: int,
    journal: Journal,
    on_progress: Callable[[Progress], None] | None,
) -> None:
    """Append rows to the journal as they come, and report progress after each.

    ``total``: number of rows of the whole run. ``left``: how many of them the journal does not have
    yet.
    """
    report = on_progress or (lambda progress: None)
    already, failed, started = total - left, 0, time.perf_counter()
    done = already
    for row in rows:
        journal.append(row)
        done, failed = done + 1, failed + ("error" in row)
        elapsed = time.perf_counter() - started
        remaining = elapsed / (done - already) * (total - done)
        report(Progress(done, total, failed, elapsed, remaining))
    if done == already:
        report(Progress(already, total, 0, 0.0, None))
