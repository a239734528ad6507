"""Time and extra memory of ``compress`` against the length of the clip."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NotRequired, TypedDict

import torch

from gleanvid.compressors import Compressor, title_of
from gleanvid.evaluation.bench.bench_compress import made_up_tokens, run_stages
from gleanvid.evaluation.bench.bench_memory import peak_above
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.provenance import Machine, describe_machine, in_words
from gleanvid.models.cost.measure import now

_ENOUGH = 2.0  # a method is not called again once its calls took this many seconds together
_TICK = 0.01  # assumed resolution of the CPU clock, in seconds: shorter times are left out


class Row(TypedDict):
    """Cost of one compressor at one clip length, or why it was not measured."""

    compressor: str
    units: int
    seconds: NotRequired[float]
    extra_memory_over_features: NotRequired[float]
    error: NotRequired[str]


class Report(TypedDict):
    """What ``gleanvid bench compress --units`` writes as JSON.

    ``clock``: what was measured, "CPU seconds" on the CPU or "seconds" (wall clock) on a GPU.
    ``limit_s``: a call was stopped after this many CPU seconds.
    """

    machine: Machine
    rows_and_columns: list[int]
    width: int
    retention_ratio: float
    clock: str
    repeats: int
    limit_s: float
    rows: list[Row]


def measure(
    methods: Sequence[Compressor],
    units: Sequence[int],
    shape: tuple[int, int, int],
    device: str,
    repeats: int = 5,
    limit_s: float = 100.0,
) -> Iterator[Report]:
    """Measure the mean seconds and the peak extra memory of every method on synthetic clips.

    Args:
        methods: The compressors, all at one retention ratio.
        units: Lengths of the clips, in temporal units.
        shape: Rows and columns of tokens in a temporal unit, and features of a token.
        device: ``cpu`` (measures CPU seconds) or ``cuda`` (measures wall-clock seconds).
        repeats: Number of timed calls per method and clip; fewer if together they take over 2 s.
        limit_s: CPU seconds after which a call is stopped and its method skips all longer clips.

    Yields:
        The report so far, after every measurement.
    """
    where = torch.device(device)
    report = Report(
        machine=describe_machine(where),
        rows_and_columns=list(shape[:2]),
        width=shape[2],
        retention_ratio=min(method.retention_ratio for method in methods),
        clock="seconds" if where.type == "cuda" else "CPU seconds",
        repeats=repeats,
        limit_s=limit_s,
        rows=[],
    )
    stopped: set[str] = set()
    few = made_up_tokens((2, *shape[:2]), shape[2], device)
    for method in methods:  # warm-up: libraries allocate their workspace in the first call
        with suppress(ValueError, TimeoutError), _limit(limit_s):
            run_stages(method, few)
    for count in sorted(units):
        tokens = made_up_tokens((count, *shape[:2]), shape[2], device)
        for method in methods:
            if method.name not in stopped:
                call = partial(run_stages, method, tokens)
                row: Row = {"compressor": method.name, "units": count}
                row |= _cost(call, where, repeats, limit_s, tokens.features.nbytes)
                report["rows"].append(row)
                stopped |= {method.name} if "error" in row else set()
                yield report
        del tokens


def _cost(
    call: Callable[[], Any], where: torch.device, repeats: int, limit_s: float, size: int
) -> Any:
    seconds: list[float] = []

    def timed() -> None:
        started = _clock(where)
        with _limit(limit_s):
            call()
        seconds.append(_clock(where) - started)

    try:
        peak, _ = peak_above(where, timed)
        while len(seconds) <= repeats and sum(seconds) < _ENOUGH:
            timed()
    except (ValueError, RuntimeError, MemoryError, TimeoutError) as error:
        return {"error": str(error).split("\n")[0]}
    warm = seconds[1:] or seconds
    mean = sum(warm) / len(warm)
    return {"seconds": mean, "extra_memory_over_features": peak * 2**20 / size}


def _clock(where: torch.device) -> float:
    return time.process_time() if where.type == "cpu" else now(where)


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Raise ``TimeoutError`` after ``seconds`` of CPU time in the block; never on Windows."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"over {seconds:g} s")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def exponent(rows: Sequence[Row]) -> float | None:
    """Return p of the power law seconds = c * units^p, fitted by least squares on logarithms.

    Measurements below 0.01 s are left out. Return None if fewer than two remain.
    """
    timed = [row for row in rows if row.get("seconds", 0) >= _TICK]
    logs = [(math.log(row["units"]), math.log(row["seconds"])) for row in timed]
    if len(logs) < 2:
        return None
    x, y = (torch.tensor(values, dtype=torch.float64) for values in zip(*logs, strict=True))
    x = x - x.mean()
    return float((x @ y) / (x @ x))


def by_method(report: Report) -> dict[str, list[Row]]:
    """Return each method's measurements, from the shortest clip to the longest, GleanVID first."""
    names = dict.fromkeys(row["compressor"] for row in report["rows"])
    ordered = sorted(names, key=lambda name: name != "gleanvid")
    return {name: [row for row in report["rows"] if row["compressor"] == name] for name in ordered}


def points(report: Report) -> dict[str, list[tuple[int, float, float]]]:
    """Return the points of the figure for each method: (temporal units, seconds, extra memory).

    Measurements below 0.01 s are left out.
    """
    found = {
        title_of(name): [
            (row["units"], row["seconds"], row["extra_memory_over_features"])
            for row in rows
            if row.get("seconds", 0) >= _TICK
        ]
        for name, rows in by_method(report).items()
    }
    return {title: drawn for title, drawn in found.items() if drawn}


def table(report: Report) -> str:
    """Return a Markdown table with one row for each method.

    It has the seconds at every clip length, the fitted exponent, and the memory at the longest
    clip that was measured.
    """
    grid = " x ".join(map(str, [*report["rows_and_columns"], report["width"]]))
    about = f"units of {grid}, {report['retention_ratio']:.0%} kept, {report['clock']}, mean of "
    about += f"up to {report['repeats']} calls, each stopped after {report['limit_s']:g} s; "
    units = sorted({row["units"] for row in report["rows"]})
    heads = ["compressor", *(f"{count} units" for count in units), "exponent", "extra memory"]
    lines, notes = [], []
    for name, rows in by_method(report).items():
        cells = {row["units"]: _seconds(row) for row in rows}
        fitted, done = exponent(rows), [row for row in rows if "error" not in row]
        lines.append(
            [
                title_of(name),
                *(cells.get(count, "") for count in units),
                "" if fitted is None else f"{fitted:.2f}",
                f"{done[-1]['extra_memory_over_features']:.2f}" if done else "",
            ]
        )
        notes += [f"\n{title_of(name)}: {row['error']}" for row in rows if _is_noted(row)]
    last = "Extra memory is the peak at the longest clip measured, divided by the features' size."
    text = markdown_table(heads, lines).rstrip()
    return "\n".join([about + in_words(report["machine"]), "", text, "", last, *notes])


def _seconds(row: Row) -> str:
    if "error" not in row:
        return f"{row['seconds']:.3g}" if row["seconds"] >= _TICK else f"under {_TICK:g}"
    return "" if _is_noted(row) else row["error"]


def _is_noted(row: Row) -> bool:
    return "error" in row and not row["error"].startswith("over ")
