"""Time and extra memory of ``compress``, against X @ X^T for the token features X [L, D]."""

from __future__ import annotations

import ctypes
import gc
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypedDict

import torch

from gleanvid.compressors import Compressor, title_of
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.provenance import Machine, describe_machine, in_words
from gleanvid.evaluation.recording.recording import open_recording
from gleanvid.models.measure import now, peak_memory_mib, reset_peak_memory
from gleanvid.types import Compression, VideoTokens

_LAYERS, _HEADS = 28, 28  # layers and attention heads of an assumed language model
_TEXT_TOKENS, _KEY_WIDTH = 16, 64
_MMAP_THRESHOLD = -3  # the constant M_MMAP_THRESHOLD of glibc's mallopt()


def made_up_tokens(grid: tuple[int, int, int], width: int, device: str) -> VideoTokens:
    """Make synthetic tokens: two scenes that drift slowly, with noise.

    They have random numbers for all signals that a compressor may need, such as saliency.
    """
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
    return _with_signals(VideoTokens(torch.cat(frames), grid), generator, device)


def recorded_tokens(path: str, device: str) -> VideoTokens:
    """Return the visual tokens of a recording file.

    A signal that the recording lacks, such as saliency, gets random numbers. Raises ``ValueError``
    if the file is not a readable recording.
    """
    return _with_signals(open_recording(path).tokens, torch.Generator().manual_seed(0), device)


def _with_signals(tokens: VideoTokens, generator: torch.Generator, device: str) -> VideoTokens:
    count, width = tokens.features.shape
    made: dict[str, Any] = {
        "saliency": torch.rand(count, generator=generator),
        "keys": torch.randn(count, _KEY_WIDTH, generator=generator),
        "text": torch.randn(_TEXT_TOKENS, width, generator=generator),
        "attention": torch.rand(_HEADS, _TEXT_TOKENS, count, generator=generator),
    }
    known: dict[str, Any] = {name: getattr(tokens, name) for name in made}
    signals: dict[str, Any] = {
        name: (made[name] if own is None else own).to(device) for name, own in known.items()
    }
    return VideoTokens(tokens.features.to(device), tokens.grid, **signals)


def run_stages(method: Compressor, tokens: VideoTokens) -> Compression:
    """Run all compression stages of a method, each on the tokens that the previous one kept.

    No language model is run: stages between its layers get features instead of hidden states.
    """
    whole: Compression | None = None
    last: Compression | None = None
    for layer, stage in method.at_depth(_LAYERS).stages:
        seen = tokens
        if layer and whole is not None:
            rows = None if tokens.attention is None else tokens.attention[:, :, whole.keep]
            seen = VideoTokens(
                whole.apply(tokens.features),
                tokens.grid,
                text=tokens.text,
                attention=rows,
                positions=whole.keep,
                previous=last,
            )
        last = stage.compress(seen)
        whole = last if whole is None else whole.then(last)
    if whole is None:
        raise ValueError(f"{method.name} compresses nothing: its list of stages is empty")
    return whole


class Row(TypedDict):
    """Measured cost of one compressor, or of the product X @ X^T of the features X."""

    compressor: str
    median_s: float
    min_s: float  # seconds of the fastest call
    max_s: float
    ratio_to_xxt: float
    ratio_to_vidcom2: float | None
    extra_memory_over_features: float


class Report(TypedDict):
    """What ``gleanvid bench compress`` writes as JSON.

    ``out_of_reach``: the methods that cannot reach the retention ratio, each with the reason.
    """

    machine: Machine
    grid: list[int]
    width: int
    repeats: int
    rows: list[Row]
    out_of_reach: dict[str, str]


def measure(methods: Sequence[Compressor], tokens: VideoTokens, repeats: int = 5) -> Report:
    """Measure median seconds and peak extra memory over ``repeats``, also of X @ X^T."""
    features = tokens.features
    where, (grid, width) = features.device, (tokens.grid, features.shape[1])
    machine = describe_machine(where)
    work: dict[str, Callable[[], Any]] = {"X @ X.T": lambda: features @ features.T}
    work |= {method.name: partial(run_stages, method, tokens) for method in methods}
    out_of_reach = {name: error for name, call in work.items() if (error := _refusal(call))}
    seconds: dict[str, list[float]] = {name: [] for name in work if name not in out_of_reach}
    for _ in range(repeats):
        for name, values in seconds.items():
            values.append(_timed(work[name], where))
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    rival = medians.get("vidcom2")
    size = features.numel() * features.element_size()
    rows: list[Row] = [
        {
            "compressor": name,
            "median_s": taken,
            "min_s": min(seconds[name]),
            "max_s": max(seconds[name]),
            "ratio_to_xxt": taken / medians["X @ X.T"],
            "ratio_to_vidcom2": taken / rival if rival else None,
            "extra_memory_over_features": peak_above(where, work[name]) * 2**20 / size,
        }
        for name, taken in medians.items()
    ]
    return {
        "machine": machine,
        "grid": list(grid),
        "width": width,
        "repeats": repeats,
        "rows": rows,
        "out_of_reach": out_of_reach,
    }


def _refusal(call: Callable[[], Any]) -> str:
    """Call once, as a warm-up. If the call raises ``ValueError``, return its message, else ""."""
    try:
        call()
    except ValueError as error:
        return str(error)
    return ""


def _timed(call: Callable[[], Any], where: torch.device) -> float:
    started = now(where)
    call()
    return now(where) - started


def peak_above(device: torch.device, call: Callable[[], Any]) -> float:
    """Return the peak memory of ``call`` in MiB above the memory before it.

    Before the first measurement, make a small call of the same kind: libraries allocate their
    workspace in the first call.
    """
    gc.collect()
    with _mapped_blocks():
        reset_peak_memory(device)
        before = peak_memory_mib(device)
        call()
        return peak_memory_mib(device) - before


@contextmanager
def _mapped_blocks() -> Iterator[None]:
    """While the block runs, have glibc give freed memory back to the system at once.

    This concerns allocations of 64 KiB or more. Otherwise the peak depends on how much freed memory
    glibc could reuse. Afterwards, glibc again keeps freed allocations of up to 32 MiB, because that
    is faster.
    """
    try:
        libc = ctypes.CDLL("libc.so.6")
        libc.malloc_trim(0)
    except (OSError, AttributeError):  # the C library is not glibc
        yield
        return
    libc.mallopt(_MMAP_THRESHOLD, 2**16)
    try:
        yield
    finally:
        libc.mallopt(_MMAP_THRESHOLD, 2**25)


def table(report: Report) -> str:
    grid = "x".join(map(str, report["grid"]))
    about = (
        f"temporal units x rows x columns = {grid}, features per token = {report['width']}, "
        f"median of {report['repeats']} calls; "
    )
    heads = [
        "compressor",
        "ms",
        "min to max",
        "of X @ X.T",
        "of VidCom2",
        "extra memory / size of features",
    ]
    rows = markdown_table(heads, [_cells(row) for row in report["rows"]])
    refused = [f"\n{name}: {reason}" for name, reason in report["out_of_reach"].items()]
    return "\n".join([about + in_words(report["machine"]), "", rows.rstrip(), *refused])


def _cells(row: Row) -> list[str]:
    rival = row["ratio_to_vidcom2"]
    return [
        title_of(row["compressor"]),
        f"{row['median_s'] * 1e3:.1f}",
        f"{row['min_s'] * 1e3:.1f} to {row['max_s'] * 1e3:.1f}",
        f"{row['ratio_to_xxt']:.3f}",
        "" if rival is None else f"{rival:.2f}",
        f"{row['extra_memory_over_features']:.2f}",
    ]
