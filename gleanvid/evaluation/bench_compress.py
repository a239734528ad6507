"""Time and extra memory of ``compress``, beside one X @ X^T of the same tokens."""

from __future__ import annotations

import platform
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from gleanvid.compressors.base import Compressor
from gleanvid.types import VideoTokens


def made_up_tokens(grid: tuple[int, int, int], width: int, device: str) -> VideoTokens:
    """A background, a slow drift, one cut and noise: structured enough for every method."""
    units, rows, columns = grid
    generator = torch.Generator().manual_seed(0)
    scenes = torch.randn(2, rows * columns, 6, generator=generator) @ torch.randn(
        6, width, generator=generator
    )
    shared = 3 * torch.randn(width, generator=generator)
    frames = [
        scenes[int(unit >= 0.6 * units)].roll(unit // 4, 0)
        + shared
        + 0.3 * torch.randn(rows * columns, width, generator=generator)
        for unit in range(units)
    ]
    return VideoTokens(torch.cat(frames).to(device), grid)


def measure(
    methods: Sequence[Compressor],
    grid: tuple[int, ...],
    width: int,
    repeats: int = 5,
    device: str | None = None,
) -> dict[str, Any]:
    """Median seconds of each method and of X @ X^T, in turns, and peak extra memory."""
    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    tokens = made_up_tokens((grid[0], grid[1], grid[2]), width, where)
    features = tokens.features
    work: dict[str, Callable[[], Any]] = {"X @ X.T": lambda: features @ features.T}
    work |= {method.name: partial(method.compress, tokens) for method in methods}
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for run in range(repeats + 1):  # the first is warm-up
        for name, call in work.items():
            taken = _timed(call, where)
            if run:
                seconds[name].append(taken)
    base = statistics.median(seconds["X @ X.T"])
    size = features.numel() * features.element_size()
    rows = [
        {
            "compressor": name,
            "median_s": statistics.median(values),
            "ratio_to_xxt": statistics.median(values) / base,
            "extra_memory_over_features": _extra_bytes(work[name], where) / size,
        }
        for name, values in seconds.items()
    ]
    return {"grid": list(grid), "width": width, "repeats": repeats, **machine(where), "rows": rows}


def machine(device: str) -> dict[str, Any]:
    """What the figures were measured on."""
    chip = torch.cuda.get_device_name() if device.startswith("cuda") else platform.machine()
    return {"device": chip, "threads": torch.get_num_threads(), "torch": torch.__version__}


def _synchronise(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def _timed(call: Callable[[], Any], device: str) -> float:
    _synchronise(device)
    started = time.perf_counter()
    call()
    _synchronise(device)
    return time.perf_counter() - started


def _extra_bytes(call: Callable[[], Any], device: str) -> float:
    """Peak memory of one call beyond what was held before it."""
    if device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated()
        call()
        return torch.cuda.max_memory_allocated() - held
    return _extra_resident(call)


def _extra_resident(call: Callable[[], Any]) -> float:
    """Sampled every millisecond from the process's resident size (Linux)."""
    peak, done = 0, threading.Event()
    before = _resident()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.001):
            peak = max(peak, _resident())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    call()
    done.set()
    watcher.join()
    return max(0, peak - before)


def _resident() -> int:
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * 4096 if pages.exists() else 0


def table(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    grid = "x".join(map(str, report["grid"]))
    lines = [
        f"T x rows x columns = {grid}, D = {report['width']}, {report['device']}, "
        f"{report['threads']} threads, torch {report['torch']}, median of {report['repeats']}",
        "",
        "| compressor | ms | of X @ X.T | extra memory, in features |",
        "|---|---|---|---|",
    ]
    for row in report["rows"]:
        lines.append(
            f"| {row['compressor']} | {row['median_s'] * 1e3:.1f} | {row['ratio_to_xxt']:.2f} | "
            f"{row['extra_memory_over_features']:.2f} |"
        )
    return "\n".join(lines)
