"""Test how well the fraction of relevance on kept tokens predicts right answers.

Other measures, such as the evidence kept, are tested next to it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gleanvid.evaluation.benchmarks.base import Item
from gleanvid.evaluation.tables.statistics import Estimate, correlation
from tools.result_tables import RESULTS
from tools.rows_and_table import cell

JOURNALS = ("glimpse", "glimpse-rivals", "glimpse-downsampling")
Sample = tuple[str, str, float, float]  # clip, setup, value of a measure, 1 if the answer is right


def predicting(mapped: Sequence[tuple[Item, Any]]) -> tuple[str, list[str], list[list[str]]]:
    """Return the table of how well each measure predicts right answers, by AUC.

    The three parts are its note, its column heads and its rows.
    """
    samples: dict[str, list[Sample]] = {}
    for name, sample in _samples(mapped):
        samples.setdefault(name, []).append(sample)
    lines = []
    for name, found in samples.items():
        r = correlation([value for *_, value, _ in found], [right for *_, right in found])
        lines.append([name, auc_cell(found, False), auc_cell(found, True), f"{r:.2f}"])
    note = (
        "AUC with which a measure tells right answers under compression from wrong ones, over "
        "questions, methods and ratios together, and as the mean over the AUCs of each method at "
        "each ratio, where only the question differs; 0.5 is chance. The answers are those of "
        "`results/`: of the last seed, GleanVID's and uniform's at 25 and 10 %."
    )
    return note, ["measure", "AUC, all together", "AUC within method and ratio", "r"], lines


def _samples(mapped: Sequence[tuple[Item, Any]]) -> Iterator[tuple[str, Sample]]:
    """Yield (name of a measure, sample) for each question and setup with an answer in a journal."""
    answered: dict[tuple[str, str], Any] = {}
    for folder in JOURNALS:
        lines = (RESULTS / folder / "journal.jsonl").read_text("utf-8").splitlines()[1:]
        answered |= {(row["item"], row["setup"]): row for row in map(json.loads, lines)}
    for item, row in mapped:
        for key, kept in row["kept"].items():
            said = answered.get((item.id, key), {})
            if "evidence" in said:
                total, shown, *_ = said["evidence"]
                for name, value in (
                    ("relevance kept", kept),
                    ("relevance kept over best", kept / row["best"][key]),
                    ("evidence kept", shown / total),
                    ("effective rank", row["rank"][key]),
                ):
                    yield name, (item.clip, key, value, float(said["right"][0]))


def auc_cell(samples: Sequence[Sample], within: bool) -> str:
    """Format an AUC with its bootstrap interval over clips.

    ``within``: take the mean of the AUCs within each setup, and not one AUC over all samples.
    """
    clips = list(dict.fromkeys(clip for clip, *_ in samples))
    place = {clip: number for number, clip in enumerate(clips)}
    groups: dict[str, list[tuple[int, float, float]]] = {}
    for clip, key, value, right in samples:
        groups.setdefault(key if within else "", []).append((place[clip], value, right))
    arrays = [np.array(group, dtype=float) for group in groups.values()]

    def statistic(counts: np.ndarray) -> float:
        found = [weighted_auc(a[:, 1], a[:, 2] > 0, counts[a[:, 0].astype(int)]) for a in arrays]
        return float(np.nanmean(found))

    rng = np.random.default_rng(0)
    every = np.ones(len(clips))
    drawn = [statistic(rng.multinomial(len(clips), every / len(clips))) for _ in range(200)]
    return cell(Estimate(statistic(every), *np.nanpercentile(drawn, [2.5, 97.5])))


def weighted_auc(values: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
    """Return the AUC if sample i counts ``weights[i]`` times; NaN unless both classes occur."""
    levels, level = np.unique(values, return_inverse=True)
    high = np.bincount(level, weights * positive, len(levels))
    low = np.bincount(level, weights * ~positive, len(levels))
    if not high.sum() or not low.sum():
        return math.nan
    return float((high * (low.cumsum() - low / 2)).sum() / (high.sum() * low.sum()))
