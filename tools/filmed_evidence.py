"""Measure what compressors keep of filmed clips that MobileNetV2 encoded.

python -m tools.filmed_clips --out CLIPS
python -m tools.filmed_evidence CLIPS --out results/filmed

Only methods that need nothing but token features are measured. ``rows.csv`` is written after every
clip; a stopped run adds the clips and methods missing there. ``table.md`` covers all rows.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import cache
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr

from gleanvid import metrics
from gleanvid.compressors import COMPRESSORS, method_from
from gleanvid.evaluation.files import csv_text, write_whole
from gleanvid.evaluation.run.clips import find_clips
from gleanvid.glimpse.questions.make import write_mp4
from gleanvid.models import load_model
from gleanvid.types import Video
from gleanvid.video import read_video
from tools import filmed_metrics
from tools.filmed_clips import CLIPS
from tools.filmed_tables import COLUMNS, CRF, KEYS, RATIOS, document, read_rows

ENCODER = "mobilenet_v2"
# retention ratio at which kept tokens are compared with those of a re-encoded and a shifted copy
STABILITY_RATIO = 0.10
PIXELS = 256 * 256  # pixels of a frame: about 8 x 8 tokens
SIDE = 480  # longest side that frames are decoded at, in pixels
NAMES = ("clip", "method")  # columns of rows.csv that contain text


def names() -> list[str]:
    """Return the methods to measure: those that need only features and act before the model.

    GleanVID's two scores, LRS and SCS, are also measured alone.
    """
    methods = {
        name: kind() for name, kind in COMPRESSORS.items() if name not in ("full", "ablation")
    }
    found = [n for n, m in methods.items() if not m.needs and m.stages == ((0, m),)]
    return [*found, "ablation(selection=lrs)", "ablation(selection=scs)"]


@cache
def _encoder() -> Any:
    torch.set_grad_enabled(False)
    return load_model(ENCODER, device="cpu")


def measure(asked: Sequence[str], path: Path, frames: int) -> list[dict[str, Any]]:
    """Return a row for each method and ratio on one clip; a refused ratio has no values."""
    model, rows = _encoder(), []
    video = read_video(path, num_frames=frames, max_side=SIDE)
    copies = {"re-encoded": _recoded(video), "shifted": _shifted(video)}
    tokens = model.encode(video, max_pixels=len(video) * PIXELS).tokens
    tokens_of = {
        name: model.encode(copy, max_pixels=len(video) * PIXELS).tokens
        for name, copy in copies.items()
    }
    head, features = model.hf_model.classifier, tokens.features.float()
    debiased, components = metrics.debiased(features), filmed_metrics.principal_components(features)
    change = _change(video)
    cuts = next((clip.cuts for clip in CLIPS if clip.file == path.name), ())
    for name in asked:
        for ratio in RATIOS:
            method = method_from(name, ratio)
            try:
                record = method.compress(tokens)
            except ValueError:
                rows.append({"clip": path.stem, "method": name, "frames": frames, "ratio": ratio})
                continue
            span = metrics.kept_span(debiased, record)
            overlap, divergence = filmed_metrics.clip_agreement(features, record, head)
            row = {
                "clip": path.stem,
                "method": name,
                "frames": frames,
                "ratio": ratio,
                "labels": filmed_metrics.label_recall(features, record, head),
                "frame top 5": filmed_metrics.frame_agreement(features, record, head),
                "clip KL": divergence,
                "clip top 5": overlap,
                "ridge R2": filmed_metrics.reconstruction(components, record),
                "coverage error": metrics.coverage_error(debiased, record, span),
                "raw coverage error": metrics.coverage_error(features, record),
                "residual energy": metrics.later_residual_energy(debiased, record, span),
                "effective rank": metrics.effective_dimension(debiased, record),
                "IoU over time": filmed_metrics.iou_over_time(record),
                "Gini": metrics.budget_gini(record),
                "r with change": float(spearmanr(record.budgets[1:], change).statistic),
                "at cuts": at_cuts(record.budgets.tolist(), video.timestamps, cuts),
            }
            if ratio == STABILITY_RATIO:
                for copy, its in tokens_of.items():
                    row[f"same, {copy}"] = metrics.mask_overlap(record, method.compress(its))
            rows.append(row)
    print(f"{path.name}: load {os.getloadavg()[0]:.1f}", flush=True)
    return rows


def at_cuts(budgets: Sequence[float], seconds: Sequence[float], cuts: Sequence[float]) -> float:
    """Return the mean budget of frames right after a cut, divided by that of other frames.

    The first frame is left out. NaN if no later frame follows a cut, or if the rest keeps nothing.
    ``budgets`` and ``seconds`` have a value for each frame; ``cuts`` are in seconds.
    """
    after = {
        next((place for place, second in enumerate(seconds) if second >= cut), 0) for cut in cuts
    } - {0}
    others = [tokens for place, tokens in enumerate(budgets) if place not in after | {0}]
    if not after or not sum(others):
        return math.nan
    return fmean(budgets[place] for place in after) / fmean(others)


def _recoded(video: Video) -> Video:
    """Return the frames after H.264 compression at low quality."""
    frames = video.frames[:, : video.frames.shape[1] // 2 * 2, : video.frames.shape[2] // 2 * 2]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "copy.mp4"
        write_mp4(frames, path, scale=1, crf=CRF)
        copy = read_video(path, num_frames=len(video), max_side=None)
    assert len(copy) == len(video), "H.264 compression lost a frame"
    return replace(video, frames=copy.frames)


def _shifted(video: Video) -> Video:
    """Return the frames shifted by one pixel to the right; the first column is repeated."""
    frames = np.concatenate([video.frames[:, :, :1], video.frames[:, :, :-1]], axis=2)
    return replace(video, frames=frames)


def _change(video: Video) -> list[float]:
    """Return the mean absolute pixel difference from each frame to the one before, [frames - 1]."""
    frames = video.frames.astype(np.float32)
    return [float(np.abs(b - a).mean()) for a, b in pairwise(frames)]


def written(folder: Path, frames: int) -> list[dict[str, Any]]:
    """Return the rows of the folder's ``rows.csv``; none if there is no such file.

    Raises ``ValueError`` if they were measured with another number of frames.
    """
    file = folder / "rows.csv"
    if not file.is_file():
        return []
    rows = read_rows(file)
    for row in rows:
        if row["frames"] != frames:
            raise ValueError(
                f"{file} is of {row['frames']:.0f} frames, this run of {frames}: choose another "
                f"folder, or --frames {row['frames']:.0f}"
            )
    return rows


def write(folder: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write ``rows.csv``, in the order of clips and methods, and ``table.md``."""
    order = {name: place for place, name in enumerate(names())}
    rows = sorted(rows, key=lambda row: (row["clip"], order.get(row["method"], len(order))))
    lines = []
    for row in rows:
        numbers = {n: round(v, 5) if v == v else "" for n, v in row.items() if n not in NAMES}
        whole = dict.fromkeys([*KEYS, *COLUMNS], "") | dict(row) | numbers
        lines.append(whole | {"frames": int(row["frames"])})
    write_whole(folder / "rows.csv", csv_text([*KEYS, *COLUMNS], lines))
    write_whole(folder / "table.md", document(rows))


def missing(
    clips: Sequence[Path], asked: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> list[tuple[Path, list[str]]]:
    """Return the clips with missing rows, each with the methods whose row is missing."""
    known = {(row["clip"], row["method"]) for row in rows}
    left = [(path, [name for name in asked if (path.stem, name) not in known]) for path in clips]
    return [(path, methods) for path, methods in left if methods]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clips", type=Path, help="folder that tools.filmed_clips wrote")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument(
        "--frames", type=int, default=32, help="number of frames read from each clip (default: 32)"
    )
    parser.add_argument(
        "--compressor",
        help="compressor names, comma-separated (default: all that need only features)",
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=1,
        help="number of processes, each measuring one clip at a time",
    )
    options = parser.parse_args()
    asked = options.compressor.split(",") if options.compressor else names()
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        rows = written(options.out, options.frames)
        left = missing(find_clips([options.clips]), asked, rows)
    except ValueError as error:
        sys.exit(str(error))
    with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
        tasks = [pool.submit(measure, methods, path, options.frames) for path, methods in left]
        for task in as_completed(tasks):
            rows += task.result()
            write(options.out, rows)
    write(options.out, rows)


if __name__ == "__main__":
    main()
