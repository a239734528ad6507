"""Judge whether a trained model may replace the built-in one.

    python -m tools.accept_reader MODEL --out FOLDER

Asks the questions of the model card (``results/glimpse-full``) with all tokens and with a random
half of the tokens; no compressor is used. Writes ``acceptance.json`` and a journal,
``acceptance.jsonl``, from which a stopped run continues. Differences come with 95 %
intervals by a bootstrap over clips.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.random import Random
from gleanvid.evaluation.benchmarks.base import Item
from gleanvid.evaluation.benchmarks.glimpse import HARD, Glimpse
from gleanvid.evaluation.files import write_whole
from gleanvid.evaluation.provenance import fingerprint
from gleanvid.evaluation.run.journal import AnswerRow, Journal
from gleanvid.evaluation.run.runner import Part, answers, pending
from gleanvid.evaluation.run.setups import Setup
from gleanvid.evaluation.tables.statistics import clip_mean
from gleanvid.models import load_model

RESULTS = Path(__file__).parents[1] / "results"
CARD = RESULTS / "glimpse-full" / "journal.jsonl"
BENCHMARK = Glimpse(clip_frames=32)
WHOLE, HALF = Setup(FullTokens(), 32), Setup(Random(0.5), 32)
SEED, HOW = 1, "likelihood"  # seed of the model card's questions
# Lowest accepted differences in accuracy on the seven hard question types. FORGOTTEN: the trained
# model minus the shipped model, both with all tokens. LOST: the trained model with a random half of
# the tokens minus the same model with all tokens.
FORGOTTEN, LOST = -0.02, -0.03
Verdicts = Mapping[str, bool]  # question id -> whether the answer is right


@cache
def _model(path: str) -> Any:
    torch.set_num_threads(1)
    return load_model(path, device="cpu")


def answered(path: str, part: Part) -> list[AnswerRow]:
    """Answer the questions about one clip; return one journal row for each answer."""
    clip, frames, work = part
    read = partial(BENCHMARK.video, clip, frames)
    return list(answers(_model(path), BENCHMARK, read, work, (HOW,)))


def ask(path: str, items: Sequence[Item], folder: Path, workers: int) -> dict[str, Verdicts]:
    """Return whether the model at ``path`` answers each question right, by setup and question.

    The setups are ``WHOLE`` and ``HALF``. Questions in the journal in ``folder`` are skipped.
    """
    settings = {"model_weights": fingerprint(_model(path).hf_model), "seed": SEED, "how": [HOW]}
    with Journal(folder / "acceptance.jsonl", settings) as journal, ExitStack() as stack:
        each: Any = map
        if workers > 1:
            each = stack.enter_context(ProcessPoolExecutor(workers, get_context("spawn"))).map
        for rows in each(partial(answered, path), pending(items, [WHOLE, HALF], journal)):
            for row in rows:
                journal.append(row)
        found = dict(journal.rows)
    return {
        setup.key: {item.id: bool(found[item.id, setup.key]["right"][0]) for item in items}
        for setup in (WHOLE, HALF)
    }


def card(journal: Path = CARD) -> dict[str, bool]:
    """Return whether the shipped model is right with all tokens, by question, from its journal."""
    rows = [json.loads(line) for line in journal.read_text("utf-8").splitlines()[1:]]
    return {row["item"]: bool(row["right"][0]) for row in rows}


def judge(
    items: Sequence[Item], shipped: Verdicts, whole: Verdicts, half: Verdicts
) -> dict[str, Any]:
    """Return accuracies, whether each acceptance rule is met, and "accepted": whether all are."""
    hard = [item for item in items if item.groups[0] in HARD]
    named = {"shipped, all tokens": shipped, "all tokens": whole, "random half": half}
    forgotten = _difference(hard, whole, shipped)
    lost = _difference(hard, half, whole)
    overall = _share(items, whole), _share(items, shipped)
    rules = {
        "hard families, all tokens, within 2 points of the shipped model": forgotten["value"]
        >= FORGOTTEN,
        "hard families, random half, within 3 points of all tokens": lost["value"] >= LOST,
        "all families, all tokens, not below the shipped model": overall[0] >= overall[1],
    }
    families = {item.groups[0]: [i for i in items if i.groups == item.groups] for item in items}
    return {
        "questions": len(items),
        "hard_questions": len(hard),
        "accuracy": {name: _share(items, right) for name, right in named.items()},
        "hard": {name: _share(hard, right) for name, right in named.items()},
        "hard_minus_shipped": forgotten,
        "hard_half_minus_all_tokens": lost,
        "half_minus_all_tokens": _difference(items, half, whole),
        "families": {
            family: {"questions": len(own)} | {n: _share(own, right) for n, right in named.items()}
            for family, own in families.items()
        },
        "rules": rules,
        "accepted": all(rules.values()),
    }


def _share(items: Sequence[Item], right: Verdicts) -> float:
    return round(sum(right[item.id] for item in items) / max(1, len(items)), 6)


def _difference(items: Sequence[Item], first: Verdicts, second: Verdicts) -> dict[str, float]:
    gaps = [float(first[item.id]) - float(second[item.id]) for item in items]
    found = clip_mean(gaps, [item.clip for item in items])
    return {name: round(value, 6) for name, value in vars(found).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="directory of the model to judge")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument(
        "--limit", type=int, default=2000, help="number of the model card's questions to ask"
    )
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    items, shipped = BENCHMARK.items(options.limit, SEED), card()
    if unknown := [item.id for item in items if item.id not in shipped]:
        sys.exit(f"{CARD} does not hold {unknown[0]}: ask at most 2000 questions")
    right = ask(options.model, items, options.out, options.workers)
    report = judge(items, shipped, right[WHOLE.key], right[HALF.key])
    text = json.dumps(report, indent=1) + "\n"
    write_whole(options.out / "acceptance.json", text)
    print(text)


if __name__ == "__main__":
    main()
