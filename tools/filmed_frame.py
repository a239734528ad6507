"""Measure the cost of a frame in the photo encoder (MobileNetV2).

python -m tools.filmed_clips --out CLIPS
python -m tools.filmed_frame CLIPS/CLIP.mp4 --out results/cpu-2-cores/photo_frame.md
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.provenance import describe_machine, in_words
from gleanvid.models import load_model
from gleanvid.models.token_model import TokenModel
from gleanvid.types import Video
from gleanvid.video import read_video
from tools.filmed_evidence import ENCODER

FRAMES, REPEATS = 32, 9


@torch.no_grad()
def milliseconds(model: TokenModel, video: Video) -> list[float]:
    """Return the wall time per frame in ms of ``REPEATS`` repeats, after a warm-up."""
    spent = []
    for _ in range(1 + REPEATS):
        began = time.perf_counter()
        model.encode(video)
        spent.append(1000 * (time.perf_counter() - began) / len(video))
    return spent[1:]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("clip", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="file for the table")
    options = parser.parse_args(arguments)
    video = read_video(options.clip, num_frames=FRAMES)
    model, rows = load_model(ENCODER, device="cpu"), []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        spent = milliseconds(model, video)
        rows.append([str(threads), *(f"{f(spent):.1f}" for f in (statistics.median, min, max))])
    height, width = video.frames.shape[1:3]
    machine, load = in_words(describe_machine(torch.device("cpu"))), os.getloadavg()[0]
    heads = ["threads", "ms a frame (median)", "least", "most"]
    text = (
        f"Photo encoder, {len(video)} frames of {width} x {height} px, {REPEATS} repeats; load "
        f"{load:.1f} at the end. {machine}\n\n{markdown_table(heads, rows)}\n"
    )
    options.out.write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()
