"""Collect wrong answers of the evaluation for the page: ``python -m tools.failures``.

Writes ``assets/failures.json`` from the journals of ``results/``: questions that the built-in model
answers correctly with all tokens, but wrongly with the tokens that a method keeps.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from gleanvid.glimpse.questions.clips import ask_about
from gleanvid.glimpse.world.world import ClipSettings

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "assets" / "failures.json"
RESULTS = ("glimpse", "glimpse-rivals")
# The key of a setup (method, retention ratio, frames) in a journal. It matches only setups whose
# other settings have their defaults.
SETUP = re.compile(r"(\w+)\(retention_ratio=([\d.]+)\)@32")


def failures() -> dict[str, Any]:
    """Return the content of ``failures.json``; items are named seed/split/clip/question.

    ``questions``: text and right answer by item. ``wrong``: wrong answer by method, retention ratio
    and item. ``asked``: by method and ratio, the number of questions that the method was asked.
    Only questions that are answered correctly with all tokens count.
    """
    wrong: dict[str, dict[str, dict[str, str]]] = {}
    asked: dict[str, dict[str, set[str]]] = {}
    for name in RESULTS:
        lines = (ROOT / "results" / name / "journal.jsonl").read_text("utf-8").splitlines()
        rows = [row for row in map(json.loads, lines) if "item" in row]
        known = {
            row["item"] for row in rows if row["setup"].startswith("full(") and all(row["right"])
        }
        for row in rows:
            made_by = SETUP.fullmatch(row["setup"])
            if not made_by or row["item"] not in known:
                continue
            method, ratio = made_by.groups()
            asked.setdefault(method, {}).setdefault(ratio, set()).add(row["item"])
            if not all(row["right"]):
                of_method = wrong.setdefault(method, {}).setdefault(ratio, {})
                of_method[row["item"]] = row["said"]["likelihood"]
    items = sorted({item for ratios in wrong.values() for one in ratios.values() for item in one})
    questions = dict(zip(items, map(_asked, items), strict=True))
    counts = {
        method: {ratio: len(asked[method][ratio]) for ratio in ratios}
        for method, ratios in wrong.items()
    }
    return {"questions": questions, "wrong": wrong, "asked": counts}


def _asked(item: str) -> list[str]:
    """Return the question and right answer of a benchmark item."""
    seed, split, clip, place = item.split("/")
    question = ask_about(int(seed), split, int(clip), ClipSettings())[int(place)]
    return [question.text, question.answer]


if __name__ == "__main__":
    FILE.write_text(json.dumps(failures(), separators=(",", ":")) + "\n", encoding="utf-8")
