"""Ask the collision questions of ``results/glimpse-hard`` with another rule for the first unit.

    python -m tools.collisions --out results/glimpse-hard/collisions.json

GleanVID takes the norm of the first unit as its novelty, so this unit gets many tokens. Here, its
novelty is the distance from the clip's mean, which leaves more tokens to the units with collisions.
"""

from __future__ import annotations

import argparse
import json
from functools import cache, partial
from pathlib import Path
from statistics import fmean

import torch

from gleanvid.evaluation.benchmarks.base import Item
from gleanvid.evaluation.benchmarks.glimpse import HARD, Glimpse
from gleanvid.evaluation.run.runner import answers
from gleanvid.evaluation.run.setups import grid
from gleanvid.models import load_model

RULE = "ablation(first_unit=centred)"
RATIOS = (0.15, 0.1, 0.05)
BENCHMARK = Glimpse(families=HARD, clip_frames=32)


@cache
def collisions() -> list[Item]:
    """Return the collision questions of the hard tables."""
    asked = BENCHMARK.items(2000, 41)
    return [item for item in asked if item.groups[0] == "collision"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out: Path = parser.parse_args().out
    torch.set_num_threads(1)
    model = load_model("builtin", device="cpu")
    setups = [setup for setup in grid([RULE], RATIOS, 32) if setup.method.retention_ratio < 1]
    clips: dict[str, list[Item]] = {}
    for item in collisions():
        clips.setdefault(item.clip, []).append(item)
    right: dict[float, list[float]] = {setup.retention_ratio: [] for setup in setups}
    ratios = {setup.key: setup.retention_ratio for setup in setups}
    for clip, items in clips.items():
        read = partial(BENCHMARK.video, clip, 32)
        work = [(setup, items) for setup in setups]
        for row in answers(model, BENCHMARK, read, work, ("likelihood",)):
            right[ratios[row["setup"]]].append(row["right"][0])
    report = {
        "rule": RULE,
        "questions": len(collisions()),
        "accuracy": {str(ratio): round(fmean(own), 6) for ratio, own in right.items()},
    }
    out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
