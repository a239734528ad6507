"""Measure every method that needs features alone on filmed clips, with an encoder of photographs.

python -m tools.filmed_clips --out CLIPS
python -m tools.filmed_evidence CLIPS --out results/filmed
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gleanvid import metrics
from gleanvid.compressors import COMPRESSORS, method_from
from gleanvid.evaluation.files import write_whole
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.run.clips import find_clips
from gleanvid.evaluation.tables.statistics import (
    Estimate,
    clip_mean,
    holm,
    rank_correlation,
    sign_flip,
)
from gleanvid.glimpse.questions.make import write_mp4
from gleanvid.models import load_model
from gleanvid.types import Video
from gleanvid.video import read_video

ENCODER = "mobilenet_v2"
RATIOS = (0.25, 0.15, 0.10, 0.05)
STABILITY_RATIO = 0.10  # the two copies of a clip are compressed at this ratio alone
FRAMES, PIXELS = 16, 256 * 256  # frames per clip; most pixels per frame, about 8 x 8 tokens
SIDE = 480  # longest side that frames are decoded at, in pixels
CRF = 28  # quality of the H.264 copy, visibly worse than a camera's
PRIMARY = {"labels": 1, "frame top 5": 1, "clip KL": -1}  # compared; -1: less is better
KEYS = ("clip", "method", "ratio")
COLUMNS = (
    *PRIMARY,
    "clip top 5",
    "ridge R2",
    "coverage error",
    "raw coverage error",
    "residual energy",
    "effective rank",
    "IoU over time",
    "Gini",
    "r with change",
    "same, re-encoded",
    "same, shifted",
)
TEXT = """# Filmed clips

{clips} filmed clips, {frames} frames each, encoded by MobileNetV2 (ImageNet weights); tokens before
its average pooling, {tokens}. No language model: nothing here is an answer.

    python -m tools.filmed_clips --out CLIPS
    python -m tools.filmed_evidence CLIPS --out results/filmed

labels: fraction of the labels of all tokens (likeliest class, probability at least one half) that a
kept row still has. frame top 5, clip top 5: the encoder's classifier on the mean of the kept rows
against the mean of all tokens, classes in common among the five likeliest; a frame without a kept
row counts 0. clip KL: the same, in nats. ridge R2: dropped tokens of odd frames guessed from the
two nearest kept rows, fitted on even frames. coverage error, residual energy (after the first
unit) and effective rank are those of `gleanvid diagnose`; raw: without debiasing. IoU over time:
kept positions, gaps of 1 to 15 frames. r with change: rank correlation of a frame's tokens with the
change of its pixels; "-" where all frames have as many. same: kept positions in common (IoU) with
those of an H.264 copy (CRF {crf}) and of a copy one pixel to the right, at 10 %.

Means over clips; in brackets 95 % by bootstrap over clips. Clips of one package are not fully
independent, so intervals are narrower than they should be. Resize and Pool keep averages, which is
what the classifier was trained on: the first four columns favour them.
"""


def names() -> list[str]:
    """Methods that choose before the model from features alone, and two parts of GleanVID."""
    methods = {
        name: kind() for name, kind in COMPRESSORS.items() if name not in ("full", "ablation")
    }
    found = [n for n, m in methods.items() if not m.needs and m.stages == ((0, m),)]
    return [*found, "ablation(selection=lrs)", "ablation(selection=scs)"]


@cache
def _encoder() -> Any:
    """The encoder, once in each process."""
    torch.set_grad_enabled(False)
    return load_model(ENCODER, device="cpu")


def measure(asked: Sequence[str], path: Path) -> list[dict[str, Any]]:
    """Return a row for each method and ratio on one clip; none where a ratio is refused."""
    model, rows = _encoder(), []
    video = read_video(path, num_frames=FRAMES, max_side=SIDE)
    copies = {"re-encoded": _recoded(video), "shifted": _shifted(video)}
    tokens = model.encode(video, max_pixels=len(video) * PIXELS).tokens
    tokens_of = {
        name: model.encode(copy, max_pixels=len(video) * PIXELS).tokens
        for name, copy in copies.items()
    }
    head, features = model.hf_model.classifier, tokens.features.float()
    debiased, components = metrics.debiased(features), metrics.principal_components(features)
    change = _change(video)
    for name in asked:
        for ratio in RATIOS:
            method = method_from(name, ratio)
            try:
                record = method.compress(tokens)
            except ValueError:
                continue
            span = metrics.kept_span(debiased, record)
            overlap, divergence = metrics.clip_agreement(features, record, head)
            row = {
                "clip": path.stem,
                "method": name,
                "ratio": ratio,
                "labels": metrics.label_recall(features, record, head),
                "frame top 5": metrics.frame_agreement(features, record, head),
                "clip KL": divergence,
                "clip top 5": overlap,
                "ridge R2": metrics.reconstruction(components, record),
                "coverage error": metrics.coverage_error(debiased, record, span),
                "raw coverage error": metrics.coverage_error(features, record),
                "residual energy": metrics.later_residual_energy(debiased, record, span),
                "effective rank": metrics.effective_dimension(debiased, record),
                "IoU over time": float(metrics.spatial_iou_curve(record).nanmean()),
                "Gini": metrics.budget_gini(record),
                "r with change": rank_correlation(record.budgets[1:].tolist(), change),
            }
            if ratio == STABILITY_RATIO:
                for copy, its in tokens_of.items():
                    row[f"same, {copy}"] = metrics.mask_overlap(record, method.compress(its))
            rows.append(row)
    print(f"{path.name}: load {os.getloadavg()[0]:.1f}", flush=True)
    return rows


def _recoded(video: Video) -> Video:
    """The same frames after H.264 at a low quality."""
    frames = video.frames[:, : video.frames.shape[1] // 2 * 2, : video.frames.shape[2] // 2 * 2]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "copy.mp4"
        write_mp4(frames, path, scale=1, crf=CRF)
        copy = read_video(path, num_frames=len(video), max_side=None)
    assert len(copy) == len(video), "a frame was lost on the way"
    return replace(video, frames=copy.frames)


def _shifted(video: Video) -> Video:
    """The same frames, one pixel to the right; the first column stands twice."""
    frames = np.concatenate([video.frames[:, :, :1], video.frames[:, :, :-1]], axis=2)
    return replace(video, frames=frames)


def _change(video: Video) -> list[float]:
    """Mean absolute difference of pixels from each frame to the one before, [frames - 1]."""
    frames = video.frames.astype(np.float32)
    return [float(np.abs(b - a).mean()) for a, b in pairwise(frames)]


Groups = Mapping[tuple[str, float], Sequence[Mapping[str, Any]]]


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Markdown: a table for every ratio, and where GleanVID differs on the primary columns."""
    groups: dict[tuple[str, float], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["method"], row["ratio"]), []).append(row)
    text = ""
    for ratio in RATIOS:
        cells = [
            [f"`{name}`", *(_cell(group, column) for column in COLUMNS)]
            for (name, of), group in groups.items()
            if of == ratio
        ]
        text += f"\n## {ratio:.0%} kept\n\n{markdown_table(['method', *COLUMNS], cells)}"
    return f"{text}\n{_differences(groups)}"


def _cell(group: Sequence[Mapping[str, Any]], column: str) -> str:
    found = _mean(group, column)
    if math.isnan(found.value):
        return "-"
    digits = 0 if column == "effective rank" else 2
    interval = f" ({found.low:.{digits}f} to {found.high:.{digits}f})"
    return f"{found.value:.{digits}f}" + interval * (column in PRIMARY)


def _mean(group: Sequence[Mapping[str, Any]], column: str) -> Estimate:
    counted = [row for row in group if not math.isnan(row.get(column, math.nan))]
    if not counted:
        return Estimate(math.nan, math.nan, math.nan)
    return clip_mean([row[column] for row in counted], [row["clip"] for row in counted])


def _differences(groups: Groups) -> str:
    """Sentences on GleanVID against each method, all under one Holm correction."""
    compared, ps = [], []
    for (name, ratio), group in groups.items():
        ours = {row["clip"]: row for row in groups["gleanvid", ratio]}
        for column, sign in PRIMARY.items() if name != "gleanvid" else ():
            pairs = [(ours[row["clip"]][column], row[column], row["clip"]) for row in group]
            pairs = [pair for pair in pairs if not math.isnan(pair[0] - pair[1])]
            gaps = [sign * (first - second) for first, second, _ in pairs]
            compared.append((ratio, column, name, sum(gaps)))
            ps.append(sign_flip(gaps, [clip for *_, clip in pairs]))
    adjusted = holm(ps)
    lines = [
        f"GleanVID against each method: sign-flip by clip, Holm over all {len(ps)} comparisons, "
        "p < 0.05. Methods that are not named are not told apart.\n"
    ]
    for ratio in RATIOS:
        for column in PRIMARY:
            told = [
                (gap > 0, name)
                for (of, what, name, gap), p in zip(compared, adjusted, strict=True)
                if of == ratio and what == column and p < 0.05
            ]
            ahead, behind = (
                ", ".join(f"`{name}`" for better, name in told if better is side) or "none"
                for side in (True, False)
            )
            lines.append(f"- {ratio:.0%}, {column}: ahead of {ahead}; behind {behind}.")
    return "\n".join(lines) + "\n"


def write(folder: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write ``rows.csv`` and ``table.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*KEYS, *COLUMNS])
        writer.writeheader()
        for row in rows:
            writer.writerow({n: round(v, 5) if isinstance(v, float) else v for n, v in row.items()})
    count = len({row["clip"] for row in rows})
    text = TEXT.format(clips=count, frames=FRAMES, tokens="about 8 x 8 a frame", crf=CRF)
    write_whole(folder / "table.md", text + table(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clips", type=Path, help="folder that tools.filmed_clips wrote")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--compressor", help="names, comma-separated (default: all that can)")
    parser.add_argument("--workers", type=int, default=1, help="processes, a clip at a time each")
    options = parser.parse_args()
    asked = options.compressor.split(",") if options.compressor else names()
    with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
        found = pool.map(partial(measure, asked), find_clips([options.clips]))
        rows = [row for clip in found for row in clip]
    write(options.out, rows)


if __name__ == "__main__":
    main()
