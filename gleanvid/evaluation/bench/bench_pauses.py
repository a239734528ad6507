"""How long a running answer stands still while a server of vLLM takes in a new video.

The engine works in steps that all running requests share. A step with a new video holds the vision
tower, the choice of tokens and the prefill, and whoever else is answered waits for all three. So
the pause of another answer tells what a new video costs the others, and how much of that is choice.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter

from gleanvid.evaluation.bench.bench_serve import Work, choosing_s, label_of
from gleanvid.evaluation.bench.serve_csv import merged, read_rows
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.serving.vllm.client import Server
from gleanvid.types import ModelError, StoppedError

NAME = "pauses.csv"
LEAD, LONGEST = 12, 1024  # tokens of the running answer ahead of the video; and at most
PATIENCE_S = 120.0


@dataclass(frozen=True)
class Pause:
    """One server; seconds as the client of the running answer saw them."""

    label: str  # method and share kept
    kept: float  # share of the visual tokens
    videos: int
    gap_s: float  # median between tokens while no video came
    pause_s: float  # median over videos of the longest gap while it was taken in
    longest_s: float  # of these pauses
    choosing_s: float  # mean of a video, on the engine's thread


def pauses(server: Server, clips: Sequence[Path], videos: int) -> Pause:
    """``videos`` new videos, each beside an answer that runs already."""
    label, kept = label_of(server)
    work = Work(server, server.model(), [clip.read_bytes() for clip in clips], new_tokens=1)
    work.ask(0)
    before = choosing_s(server)
    gaps, longest = [], []
    for number in range(videos):
        quiet, pause = _beside(server, work, number)
        gaps += quiet
        longest.append(pause)
    after = choosing_s(server)
    chosen = (after[0] - before[0]) / max(after[1] - before[1], 1)
    return Pause(label, kept, videos, median(gaps), median(longest), max(longest), chosen)


def _beside(server: Server, work: Work, number: int) -> tuple[list[float], float]:
    """Gaps of a running answer ahead of a video, and the longest one while it is taken in."""
    times: list[float] = []
    leads, stop = threading.Event(), threading.Event()

    def tick(_: str) -> None:
        times.append(perf_counter())
        if len(times) == LEAD:
            leads.set()

    def run() -> None:
        with suppress(StoppedError):
            server.ask(
                [{"type": "text", "text": "Tell a story."}],
                LONGEST,
                model=work.model,
                on_text=tick,
                stop=stop,
                ignore_eos=True,
                skip_special_tokens=False,
            )

    answer = threading.Thread(target=run, daemon=True)
    answer.start()
    try:
        if not leads.wait(PATIENCE_S):
            raise ModelError(f"{server.url} does not stream its answers token by token")
        sent = perf_counter()
        work.ask(number)
        taken = perf_counter()
        while answer.is_alive() and times[-1] < taken:  # the gap that the reply fell into
            answer.join(0.01)
    finally:
        stop.set()
        answer.join()
    gaps = [(late, late - early) for early, late in pairwise(times)]
    quiet = [gap for late, gap in gaps if late < sent]
    return quiet, max((gap for late, gap in gaps if late > sent), default=0.0)


def save(found: Sequence[Pause], folder: Path) -> list[Pause]:
    """All that the folder's CSV holds now."""
    return merged(Pause, found, folder / NAME, lambda one: (-one.kept, one.label))


def read(folder: Path) -> list[Pause]:
    """What :func:`save` wrote; raises ``ValueError`` for a file of other columns."""
    return read_rows(Pause, folder / NAME)


def table(found: Sequence[Pause]) -> str:
    """Markdown."""
    header = (
        "kept",
        "videos",
        "between tokens ms",
        "pause by a video ms",
        "longest ms",
        "choosing ms",
        "of the pause",
    )
    rows = [
        (
            one.label,
            str(one.videos),
            f"{1000 * one.gap_s:.1f}",
            f"{1000 * one.pause_s:.0f}",
            f"{1000 * one.longest_s:.0f}",
            f"{1000 * one.choosing_s:.1f}",
            f"{one.choosing_s / one.pause_s:.1%}" if one.pause_s else "-",
        )
        for one in found
    ]
    return markdown_table(header, rows)
