"""A table of what one ``compress`` of every method makes a device do. Needs no GPU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypedDict

import torch

from gleanvid.compressors.base import Compressor
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.bench.bench_compress import run_stages
from gleanvid.evaluation.bench.device_time import device_times
from gleanvid.evaluation.bench.work import count
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.ops.fused import fused_steps
from gleanvid.types import VideoTokens


class Report(TypedDict):
    """A row holds ``compressor``, the fields of ``work.Work`` and ``bytes_over_features``; from a
    GPU also ``device_s`` and ``launch_gap_s``; where fused steps count too, ``kernels_fused``."""

    grid: list[int]
    width: int
    retention_ratio: list[float]
    torch: str
    rows: list[dict[str, Any]]
    out_of_reach: dict[str, str]


def count_all(methods: Sequence[Compressor], tokens: VideoTokens, fused: bool = False) -> Report:
    """A row for every method, on the tokens that ``bench compress`` measures with.

    On a GPU a row also holds ``device_s`` and ``launch_gap_s`` (:func:`device_times`). With
    ``fused`` the kernels of GleanVID are counted with its fused steps as well.
    """
    size = tokens.features.numel() * tokens.features.element_size()
    rows, out_of_reach = [], {}
    for method in methods:
        call = partial(run_stages, method, tokens)
        try:
            work = count(call)
        except ValueError as error:
            out_of_reach[method.name] = str(error)
            continue
        facts = vars(work) | {"bytes_over_features": round(work.bytes_moved / size, 2)}
        if tokens.features.is_cuda:
            facts |= device_times(call, tokens.features.device)
        if fused and isinstance(method, GleanVID):  # no other has such steps
            with fused_steps():
                facts["kernels_fused"] = count(call).kernels
        rows.append({"compressor": method.name} | facts | {"by_name": dict(work.by_name)})
    shares = sorted({method.retention_ratio for method in methods} - {1.0})
    return {
        "grid": list(tokens.grid),
        "width": tokens.features.shape[1],
        "retention_ratio": shares,
        "torch": torch.__version__,
        "rows": rows,
        "out_of_reach": out_of_reach,
    }


def table(report: Report) -> str:
    """The report as Markdown."""
    grid = " x ".join(map(str, report["grid"]))
    shares = ", ".join(f"{share:.0%}" for share in report["retention_ratio"])
    heads = ["compressor", "kernels", "QR", "eigenproblems, SVD", "read-backs"]
    heads += ["moved, in features"]
    times = {"device_s": "device, ms", "launch_gap_s": "launch gap, ms"}  # from a GPU alone
    known = {name for row in report["rows"] for name in row}
    times = {name: head for name, head in times.items() if name in known}
    rows = [
        [
            f"`{row['compressor']}`",
            f"{row['kernels']:,}",
            str(row["qr"]),
            str(row["dense"]),
            str(row["read_backs"]),
            f"{row['bytes_over_features']:.1f}",
            *(f"{1e3 * row[name]:.2f}" for name in times),
        ]
        for row in report["rows"]
    ]
    first = f"{grid} tokens of width {report['width']}, {shares} kept, torch {report['torch']}"
    lines = [first, "", markdown_table([*heads, *times.values()], rows)]
    lines += [
        f"`{row['compressor']}` with fused steps: {row['kernels_fused']:,} kernels\n"
        for row in report["rows"]
        if "kernels_fused" in row
    ]
    lines += [f"`{name}`: {reason}\n" for name, reason in report["out_of_reach"].items()]
    return "\n".join(lines).rstrip()
