"""Measure time and memory against the length of a clip: ``python -m tools.bench_clip``.

Four stages run with the built-in model: decoding every frame of a file, encoding the frames,
choosing tokens, and packing the files that the page fetches. Memory is that of this process; the
decoder runs in another process.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import av
import torch

from components.viewer.payload import Packed, pack
from gleanvid import load_model, read_video
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.cost import Cost
from gleanvid.evaluation.bench.bench_length import exponent
from gleanvid.evaluation.bench.bench_memory import noise, peak_above
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.provenance import describe_machine, in_words
from gleanvid.plots.length import length_figure
from gleanvid.run import Run

UNITS = (16, 64, 256, 768)
STAGES = ("decode", "encode", "compress", "page")
RATIO = 0.25


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, nargs="+", default=UNITS)
    parser.add_argument(
        "--out", type=Path, required=True, help="output folder for table and figure"
    )
    options = parser.parse_args()
    machine = describe_machine(torch.device("cpu"))
    model = load_model()
    with TemporaryDirectory() as folder:
        stages_of(model, 2, Path(folder))  # warm-up: libraries allocate their workspace
        rows = [row for n in options.units for row in stages_of(model, n, Path(folder))]
    options.out.mkdir(parents=True, exist_ok=True)
    stem = options.out / "clip_length"
    report = {"machine": machine, "retention_ratio": RATIO, "rows": rows}
    stem.with_suffix(".json").write_text(json.dumps(report, indent=2) + "\n", "utf-8")
    text = f"built-in model, frames of 160x160, seconds; {in_words(machine)}\n\n{table(rows)}"
    stem.with_suffix(".md").write_text(text, "utf-8")
    drawn = {
        stage: [(r["units"], r["seconds"], r["memory_mib"]) for r in of_stage(rows, stage)]
        for stage in STAGES
    }
    length_figure(drawn, memory="extra memory, MiB").savefig(stem.with_suffix(".png"), dpi=120)
    print(text)


def stages_of(model: Any, units: int, folder: Path) -> list[dict[str, Any]]:
    """Return seconds and peak extra memory of every stage for a clip of ``units`` units."""
    frames = 2 * units
    path = folder / f"{frames}.mp4"
    write_clip(path, frames)
    rows = []

    def timed(stage: str, call: Callable[[], Any]) -> Any:
        def clocked() -> tuple[float, Any]:
            began, result = time.perf_counter(), call()
            return time.perf_counter() - began, result

        peak, (seconds, result) = peak_above(torch.device("cpu"), clocked)
        rows.append({"compressor": stage, "units": units, "seconds": seconds, "memory_mib": peak})
        return result

    video = timed("decode", lambda: read_video(path, frames, timeout_s=600))
    encoded = timed("encode", lambda: model.encode(video))
    record = timed("compress", lambda: GleanVID(RATIO).compress(encoded.tokens))
    tokens = encoded.tokens
    run = Run(
        video=video,
        question="",
        model="builtin",
        compressor=GleanVID(RATIO).settings(),
        by_layer={0: record},
        answer="",
        cost=Cost.tokens_only(record),
        seconds=tokens.seconds,
        rectangles=tokens.rectangles,
    )
    packed: Packed = timed("page", lambda: pack([run], tokens=tokens))
    rows[-1]["payload_mib"] = (len(packed.sheet) + len(packed.data)) / 2**20
    return rows


def write_clip(path: Path, frames: int) -> None:
    """Write an H.264 clip of random pixels with two frames a second."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=2, options={"preset": "ultrafast"})
        stream.height, stream.width = noise(1).frames.shape[1:3]
        for picture in noise(frames).frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())


def of_stage(rows: Sequence[dict[str, Any]], stage: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["compressor"] == stage]


def table(rows: Sequence[Any]) -> str:
    """Format a table: seconds of every stage by length, fitted exponent, largest memory."""
    units = sorted({row["units"] for row in rows})
    heads = ["stage", *(f"{count} units" for count in units), "exponent", "extra memory (MiB)"]
    lines = []
    for stage in STAGES:
        mine = of_stage(rows, stage)
        fitted = exponent(mine)  # type: ignore[arg-type]
        cells = [f"{row['seconds']:.3g}" for row in mine]
        last = f"{mine[-1]['memory_mib']:.0f}"
        lines.append([stage, *cells, "" if fitted is None else f"{fitted:.2f}", last])
    fetched = ", ".join(f"{row['payload_mib']:.1f}" for row in of_stage(rows, "page"))
    return f"{markdown_table(heads, lines)}\nThe page fetches {fetched} MiB.\n"


if __name__ == "__main__":
    main()
