"""Whether relevance measures what a model uses: against the truth of Glimpse, and by hiding tokens.

python -m tools.relevance_validity --out results/relevance

Answers under compression are those of ``results/glimpse`` and ``results/glimpse-rivals``. Every
question is one line of a journal, so a stopped run goes on, and a larger ``--limit`` adds to it.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gleanvid.attribution.measure import measure
from gleanvid.attribution.occlusion import log_probability_of
from gleanvid.attribution.prompt import AnsweredPrompt
from gleanvid.compressors import method_from
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.benchmarks.base import Item, items_of_seeds
from gleanvid.evaluation.benchmarks.glimpse import Glimpse
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.provenance import describe_machine, describe_model
from gleanvid.evaluation.run.journal import Journal
from gleanvid.evaluation.run.setups import Setup
from gleanvid.evaluation.tables.statistics import Estimate, clip_mean, correlation
from gleanvid.glimpse.questions.clips import evidence_by_thing
from gleanvid.glimpse.questions.questions import caption
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import ClipSettings
from gleanvid.metrics.diversity import effective_dimension
from gleanvid.metrics.span import debiased
from gleanvid.models import load_model

FRAMES, SEEDS, QUESTIONS = 32, (0, 1, 2), 240  # those of the journals
JOURNALS = ("results/glimpse", "results/glimpse-rivals")
METHODS = ("gleanvid", "uniform", "random", "vidcom2", "evs", "divprune", "sttm", "floc", "aot")
RATIOS = (0.25, 0.15, 0.1)
CURVES = {"deletion": (0.1, 0.3, 0.5), "insertion": (0.01, 0.03, 0.1)}  # fractions of the tokens
SCORES = ("gradient", "attention", "joint score", "novelty", "saliency", "feature norm", "random")
REWORDINGS = (  # of the same question, as the world words it in one way or the other
    ("What colour is the {a}?", "Which colour does the {a} have?"),
    ("What shape is the {a} object?", "Which shape is {a}?"),
    ("Which way does the {a} move?", "In which direction does the {a} go?"),
    ("On which side of the {a} is the {b}?", "Where is the {b}, seen from the {a}?"),
    ("How many objects are there?", "How many different objects appear?"),
    ("Which object flashes briefly?", "What is seen only for a moment?"),
    ("Which object appears last?", "Which object is the last to come?"),
    ("Which object leaves first?", "Which object is the first to go?"),
    ("Which object does the {a} hit?", "What does the {a} bump into?"),
    ("How many times does the {a} blink?", "How often does the {a} blink?"),
)
TEXT = """# What relevance measures

Written by `python -m tools.relevance_validity --out results/relevance` with the built-in model on
Glimpse, {items} of {of} questions ({clips} clips); {hidden} of them with tokens hidden. Relevance
measures how this model uses its input, not what is true. Intervals (95 %) resample clips.

{machine}; a gradient map took {gradient:.1f} s, one of attention {attention:.1f} s, occlusion by
unit ({units} passes) {occlusion:.1f} s (medians, one thread, the machine shared with other work).
"""


def auc(scores: Tensor, positive: Tensor) -> float:
    """Probability that a positive has a higher score than a negative; ties count half."""
    high, low = scores[positive].double(), scores[~positive].double().sort().values
    below = torch.searchsorted(low, high) + torch.searchsorted(low, high, right=True)
    return float(below.double().mean() / (2 * len(low)))


def average_precision(scores: Tensor, positive: Tensor) -> float:
    """Mean precision at each positive, from the highest score down."""
    hits = positive[scores.argsort(descending=True, stable=True)].double()
    precision = hits.cumsum(0) / torch.arange(1, len(hits) + 1)
    return float((precision * hits).sum() / hits.sum())


def rank_correlation(first: Tensor, second: Tensor) -> float | None:
    """Spearman's rho; None where either does not vary."""
    ranks = []
    for part in (first, second):
        ordered = part.sort().values
        low, high = (torch.searchsorted(ordered, part, right=right) for right in (False, True))
        ranks.append((low + high).double().tolist())
    found = correlation(*ranks)
    return None if math.isnan(found) else found


def rounded(value: Any) -> Any:
    """The value with all its numbers to four digits, for a smaller journal."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def reworded(question: str) -> str | None:
    """The same question in other words, if they are known."""
    for pair in REWORDINGS:
        for one, other in (pair, pair[::-1]):
            pattern = re.sub(r"\\{(\w)\\}", r"(?P<\1>.+)", re.escape(one))
            if found := re.fullmatch(pattern, question):
                return other.format(**found.groupdict())
    return None


class Study:
    """Measures one question after the other."""

    def __init__(self, journal: Journal, answered: dict[tuple[str, str], Any]) -> None:
        self.model = load_model("builtin", device="cpu")
        self.benchmark = Glimpse(clip_frames=FRAMES)
        self.journal, self.answered = journal, answered
        self.setups = [Setup(method_from(n, r), FRAMES) for n in METHODS for r in RATIOS]
        self.clip = cache(self._clip)

    def _clip(self, clip: str) -> tuple[Any, dict[str, Any]]:
        """The encoded clip; for each setup its record and effective rank."""
        self.clip.cache_clear()
        encoded = self.model.encode(self.benchmark.video(clip, FRAMES), frozenset({"saliency"}))
        rows, records = debiased(encoded.tokens.features), {}
        for setup in self.setups:
            record = setup.method.compress(encoded.tokens)
            records[setup.key] = record, effective_dimension(rows, record)
        return encoded, records

    def truth(self, item: Item, encoded: Any) -> tuple[Tensor, Tensor]:
        """bool [L] each: tokens that hold the answer, and those on any object."""
        seed, split, number = item.clip.split("/")
        settings = ClipSettings(num_frames=FRAMES)
        address = int(seed), split, int(number), settings
        everything = caption(sample_scene(*address))
        objects = evidence_by_thing(*address, everything, encoded.tokens.grid).any(0)
        holds = self.benchmark.evidence(item, encoded.tokens).any(0)
        return holds, objects | holds

    def maps(self, item: Item) -> dict[str, Any]:
        """Relevance against the truth, and how much of it every setup keeps."""
        encoded, records = self.clip(item.clip)
        own = self.answered[item.id, "full(retention_ratio=1.0)@32"]["said"]["likelihood"]
        found = {
            name: measure(self.model, encoded, item.question, item.right_option, name)
            for name in ("gradient", "attention")
        }
        mine = found["gradient"]
        if own != item.right_option:
            mine = measure(self.model, encoded, item.question, own)
        scored = GleanVID().compress(encoded.tokens).scores
        scores = {name: one.tokens for name, one in found.items()} | {
            "joint score": scored["joint"].float(),
            "novelty": scored["novelty"].float(),
            "saliency": encoded.tokens.saliency.float(),
            "feature norm": encoded.tokens.features.float().norm(dim=1),
            "random": torch.rand(len(encoded.tokens), generator=torch.manual_seed(0)),
        }
        holds, objects = self.truth(item, encoded)
        among = objects if bool((objects & ~holds).any() and holds.any()) else None
        return {
            "seconds": {name: one.seconds for name, one in found.items()},
            "truth": {n: self._against(values, holds, among) for n, values in scores.items()},
            "right_answer": own == item.right_option,
            "kept": {key: mine.kept(record) for key, (record, _) in records.items()},
            "best": {key: mine.best(record.num_kept) for key, (record, _) in records.items()},
            "rank": {key: rank for key, (_, rank) in records.items()},
        }

    @staticmethod
    def _against(values: Tensor, holds: Tensor, among: Tensor | None) -> list[float]:
        """AUC and average precision among all tokens, then among those on objects."""
        if not bool(holds.any()):
            return []
        found = [auc(values, holds), average_precision(values, holds)]
        if among is not None:
            part = values[among], holds[among]
            found += [auc(*part), average_precision(*part)]
        return found

    def hidden(self, item: Item) -> dict[str, Any]:
        """Relevance against what happens when tokens are hidden, and under another wording."""
        encoded, _ = self.clip(item.clip)
        ask = (self.model, encoded, item.question, item.right_option)
        found = {name: measure(*ask, name) for name in ("gradient", "attention")}
        units = encoded.tokens.grid[0]
        occlusion = measure(*ask, "occlusion", passes=units)
        prompt, total = AnsweredPrompt.of(*ask), len(encoded.tokens)
        noise = torch.rand(total, generator=torch.manual_seed(0))
        orders = {name: one.tokens for name, one in found.items()} | {"random": noise}
        curves: dict[str, Any] = {}
        for name, values in orders.items():
            order = values.argsort(descending=True)
            first = {k: [max(1, round(f * total)) for f in shares] for k, shares in CURVES.items()}
            curves[name] = {
                "deletion": [
                    log_probability_of(prompt, order[cut:].sort().values)
                    for cut in first["deletion"]
                ],
                "insertion": [
                    log_probability_of(prompt, order[:cut].sort().values)
                    for cut in first["insertion"]
                ],
            }
        row: dict[str, Any] = {
            "seconds": occlusion.seconds,
            "units": units,
            "agreement": {
                name: rank_correlation(one.units, occlusion.units) for name, one in found.items()
            },
            "curves": curves,
            "whole": found["gradient"].log_probability,
        }
        if other := reworded(item.question):
            again = measure(self.model, encoded, other, item.right_option)
            row["reworded"] = rank_correlation(found["gradient"].tokens, again.tokens)
            count = total // 10
            tops = [
                set(one.tokens.topk(count).indices.tolist()) for one in (found["gradient"], again)
            ]
            row["reworded_top"] = len(tops[0] & tops[1]) / count
        return row


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--limit", type=int, default=QUESTIONS, help="questions, at most 240")
    parser.add_argument("--hide-every", type=int, default=8, help="of these tokens are hidden")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so many")
    parser.add_argument("--report", action="store_true", help="write the tables alone")
    options = parser.parse_args()
    torch.set_num_threads(1)
    answered, weights = read_answers()
    items = items_of_seeds(Glimpse(clip_frames=FRAMES), QUESTIONS, SEEDS)
    settings = {"model_weights": weights, "study": "relevance", "methods": METHODS}
    with Journal(options.out / "journal.jsonl", settings) as journal:
        if not options.report:
            study = Study(journal, answered)
            if describe_model(study.model)["model_weights"] != weights:
                raise SystemExit("the built-in model is not that of the answers in results/")
            run(study, journal, in_random_order(items)[: options.limit], options)
        report(options.out, items, journal.rows, answered)


def read_answers() -> tuple[dict[tuple[str, str], Any], str]:
    """The rows of the journals by item and setup, and the fingerprint of their model."""
    answered: dict[tuple[str, str], Any] = {}
    for folder in JOURNALS:
        header, *lines = (Path(folder) / "journal.jsonl").read_text("utf-8").splitlines()
        answered |= {(row["item"], row["setup"]): row for row in map(json.loads, lines)}
    return answered, json.loads(header)["settings"]["model_weights"]


def in_random_order(items: Sequence[Item]) -> list[Item]:
    """The questions with their clips in random order, so that any first part is a fair sample."""
    clips = list(dict.fromkeys(item.clip for item in items))
    random.Random(0).shuffle(clips)
    return sorted(items, key=lambda item: clips.index(item.clip))


def run(study: Study, journal: Journal, items: Sequence[Item], options: Any) -> None:
    started = time.monotonic()
    for number, item in enumerate(items):
        parts: dict[str, Callable[[Item], dict[str, Any]]] = {"maps": study.maps}
        if number % options.hide_every == 0:
            parts["hidden"] = study.hidden
        for name, part in parts.items():
            if time.monotonic() - started > 60 * options.minutes:
                return
            if not journal.done((item.id, name)):
                journal.append({"item": item.id, "setup": name, **rounded(part(item))})
        sys.stderr.write(f"{number + 1}/{len(items)} {time.monotonic() - started:.0f} s\n")


def report(out: Path, items: Sequence[Item], rows: Any, answered: Any) -> None:
    """Write ``table.md`` and ``results.json``."""
    mapped = [(item, rows[item.id, "maps"]) for item in items if (item.id, "maps") in rows]
    hidden = [(item, rows[item.id, "hidden"]) for item in items if (item.id, "hidden") in rows]
    tables: dict[str, Any] = {
        "Against the truth": against_truth(mapped),
        "By family of questions (gradient)": by_family(mapped),
        "By hiding tokens": by_hiding(hidden),
        "Under another wording": by_wording(hidden),
        "Relevance kept": kept_by_method(mapped, answered),
        "Does it predict a right answer": predicting(mapped, answered),
    }
    median = {
        name: float(np.median([row["seconds"][name] for _, row in mapped]))
        for name in ("gradient", "attention")
    }
    intro = TEXT.format(
        items=len(mapped),
        of=len(items),
        clips=len({item.clip for item, _ in mapped}),
        hidden=len(hidden),
        machine=describe_machine(torch.device("cpu"))["device"],
        units=hidden[0][1]["units"] if hidden else 0,
        occlusion=float(np.median([row["seconds"] for _, row in hidden])) if hidden else 0.0,
        **median,
    )
    parts = [intro]
    for title, (note, heads, lines) in tables.items():
        parts.append(f"\n## {title}\n\n{note}\n\n{markdown_table(heads, lines)}")
    (out / "table.md").write_text("\n".join(parts), encoding="utf-8")
    facts = {
        title: [dict(zip(heads, line, strict=True)) for line in lines]
        for title, (_, heads, lines) in tables.items()
    }
    (out / "results.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


Rows = Sequence[tuple[Item, Any]]
Table = tuple[str, list[str], list[list[str]]]


def mean(rows: Sequence[tuple[Item, float]]) -> str:
    """The mean with its interval, as a cell."""
    if not rows:
        return ""
    return cell(clip_mean([value for _, value in rows], [item.clip for item, _ in rows]))


def cell(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def against_truth(mapped: Rows) -> Table:
    note = (
        "Area under the ROC curve and average precision of the tokens that hold the answer: among "
        "all tokens, and among those that show any object, where the question decides."
    )
    heads = ["score", "AUC", "precision", "AUC, objects", "precision, objects"]
    lines = []
    for name in SCORES:
        parts = [
            [(i, row["truth"][name][p]) for i, row in mapped if len(row["truth"][name]) > p]
            for p in range(4)
        ]
        lines.append([name, *map(mean, parts)])
    return note, heads, lines


def by_family(mapped: Rows) -> Table:
    heads = ["family", "questions", "AUC", "AUC, objects", "joint score", "joint score, objects"]
    lines = []
    for family in dict.fromkeys(item.groups[0] for item, _ in mapped):
        own = [(i, row["truth"]) for i, row in mapped if i.groups[0] == family]
        cells = [
            mean([(i, t[name][p]) for i, t in own if len(t[name]) > p])
            for name in ("gradient", "joint score")
            for p in (0, 2)
        ]
        lines.append([family, str(len(own)), *cells])
    return "Mean AUC; empty where no question has other objects.", heads, lines


def by_hiding(hidden: Rows) -> Table:
    note = (
        "Rank correlation by unit with hiding the unit, and the change of the answer's "
        "log-probability (natural) when the first tokens in an order are taken away (deletion: "
        "lower is better) or are all that is left (insertion: higher is better)."
    )
    points = [(kind, place) for kind, shares in CURVES.items() for place in range(len(shares))]
    heads = ["order", "agreement by unit"]
    heads += [f"{kind} {CURVES[kind][place]:.0%}" for kind, place in points]
    lines = []
    for name in ("gradient", "attention", "random"):
        agree = [(i, r["agreement"][name]) for i, r in hidden if name in r["agreement"]]
        agree = [(i, value) for i, value in agree if value is not None]
        cells = [
            mean([(i, r["curves"][name][kind][place] - r["whole"]) for i, r in hidden])
            for kind, place in points
        ]
        lines.append([name, mean(agree), *cells])
    return note, heads, lines


def by_wording(hidden: Rows) -> Table:
    own = [(i, row) for i, row in hidden if "reworded" in row]
    note = (
        f"The same question in other words, the same answer ({len(own)} questions): rank "
        "correlation of the gradient's maps, and the fraction that their top 10 % share "
        "(0.10 by chance)."
    )
    ranks, tops = ([(i, row[key]) for i, row in own] for key in ("reworded", "reworded_top"))
    return note, ["rank correlation", "top 10 % shared"], [[mean(ranks), mean(tops)]]


def setup_key(method: str, ratio: float) -> str:
    return Setup(method_from(method, ratio), FRAMES).key


def kept_by_method(mapped: Rows, answered: Any) -> Table:
    note = "Percent of the relevance (gradient, the model's own answer) that a method keeps."
    lines = []
    for method in METHODS:
        cells = []
        for ratio in RATIOS:
            key = setup_key(method, ratio)
            cells.append(mean([(i, 100 * row["kept"][key]) for i, row in mapped]))
        lines.append([method, *cells])
    best = [
        mean([(i, 100 * row["best"][setup_key("uniform", ratio)]) for i, row in mapped])
        for ratio in RATIOS
    ]
    lines.append(["best tokens (upper bound)", *best])
    lines.append(["random, expected", *(f"{100 * ratio:.2f}" for ratio in RATIOS)])
    return note, ["method", *(f"{ratio:.0%} kept" for ratio in RATIOS)], lines


def predicting(mapped: Rows, answered: Any) -> Table:
    note = (
        "AUC with which a measure tells right answers under compression from wrong ones, over "
        "questions, methods and ratios together, and as the mean over the AUCs of each method at "
        "each ratio, where only the question differs; 0.5 is chance."
    )
    samples: dict[str, list[tuple[str, str, float, float]]] = {}
    for item, row in mapped:
        for method in METHODS:
            for ratio in RATIOS:
                key = setup_key(method, ratio)
                said = answered.get((item.id, key), {})
                if "evidence" not in said:
                    continue
                total, kept, *_ = said["evidence"]
                for name, value in (
                    ("relevance kept", row["kept"][key]),
                    ("relevance kept over best", row["kept"][key] / row["best"][key]),
                    ("evidence kept", kept / total),
                    ("effective rank", row["rank"][key]),
                ):
                    right = float(said["right"][0])
                    samples.setdefault(name, []).append((item.clip, key, value, right))
    heads = ["measure", "AUC, all together", "AUC within method and ratio", "r"]
    lines = []
    for name, found in samples.items():
        r = correlation([s[2] for s in found], [s[3] for s in found])
        lines.append([name, auc_cell(found, False), auc_cell(found, True), f"{r:.2f}"])
    return note, heads, lines


def auc_cell(samples: Sequence[tuple[str, str, float, float]], within: bool) -> str:
    """AUC with an interval over resampled clips; ``within``: the mean over setups."""
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
    """AUC in which every sample counts ``weights`` times; NaN without both kinds."""
    levels, level = np.unique(values, return_inverse=True)
    high = np.bincount(level, weights * positive, len(levels))
    low = np.bincount(level, weights * ~positive, len(levels))
    if not high.sum() or not low.sum():
        return math.nan
    return float((high * (low.cumsum() - low / 2)).sum() / (high.sum() * low.sum()))


if __name__ == "__main__":
    main()
