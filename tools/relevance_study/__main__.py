"""Test whether relevance finds the tokens a model uses: by ground truth, and by hiding tokens.

python -m tools.relevance_study --out results/relevance --seeds 0,1,2 --questions 240

Every question is one line of a journal, so a stopped run continues, and a run with other seeds or
more questions adds to the journal. The tables cover the whole journal. Answers under compression
are read from the journals in ``results/``.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from gleanvid.evaluation.benchmarks.base import Item
from gleanvid.evaluation.benchmarks.glimpse import Glimpse
from gleanvid.evaluation.provenance import describe_model
from gleanvid.evaluation.run.journal import Journal
from gleanvid.models import load_model
from tools.relevance_study.measuring import FRAMES, METHODS, PARTS, Study
from tools.relevance_study.tables import write


def main() -> None:
    """Measure the questions missing in the journal, then write the tables."""
    options = parsed()
    torch.set_num_threads(1)
    weights = describe_model(load_model("builtin", device="cpu"))["model_weights"]
    settings = {"model_weights": weights, "study": "relevance", "methods": METHODS}
    with Journal(options.out / "journal.jsonl", settings) as journal:
        if options.minutes:
            seeds = [int(seed) for seed in options.seeds.split(",")]
            part = options.questions // len(seeds)
            asked = Glimpse(clip_frames=FRAMES)
            items = [item for seed in seeds for item in asked.items(part, seed)]
            measure_all(journal, in_random_order(items), options.parts.split(","), options.minutes)
        write(options.out, journal.rows)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--seeds", default="0,1,2", help="seeds of the clips, comma-separated")
    parser.add_argument(
        "--questions", type=int, default=240, help="number of questions over all seeds"
    )
    parser.add_argument(
        "--parts", default=",".join(PARTS), help="parts of the study to measure, comma-separated"
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=math.inf,
        help="time limit in minutes; 0: write the tables only",
    )
    return parser.parse_args()


def in_random_order(items: Sequence[Item]) -> list[Item]:
    """Return the questions with clips in random order, so that any first part is a fair sample."""
    clips = list(dict.fromkeys(item.clip for item in items))
    random.Random(0).shuffle(clips)
    return sorted(items, key=lambda item: clips.index(item.clip))


def measure_all(
    journal: Journal, items: Sequence[Item], parts: Sequence[str], minutes: float
) -> None:
    """Measure the questions missing in the journal and append them, for up to ``minutes``."""
    study, started = Study(), time.monotonic()
    for number, item in enumerate(items):
        for name in parts:
            if time.monotonic() - started > 60 * minutes:
                return
            if number % PARTS[name] == 0 and not journal.done((item.id, name)):
                row = study.measured(name, item)
                journal.append({"item": item.id, "setup": name, **rounded(row)})
        sys.stderr.write(f"{number + 1}/{len(items)} {time.monotonic() - started:.0f} s\n")


def rounded(value: Any) -> Any:
    """Return a JSON value with all numbers rounded to four digits, for a smaller journal."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


if __name__ == "__main__":
    main()
