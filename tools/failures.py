"""Wrong answers of the evaluation for the page: ``python -m tools.failures``.

Writes ``assets/failures.json`` from the journals of ``results/``: questions that the built-in model
answers right with all tokens and wrong with those that a method keeps.
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
SETUP = re.compile(r"(\w+)\(retention_ratio=([\d.]+)\)@32")  # other settings at their default


def failures() -> dict[str, Any]:
    """Return ``questions``, text and right answer by item, and ``wrong``.

    ``wrong``: the answer by method, retention ratio and item. An item is seed/split/clip/question.
    """
    wrong: dict[str, dict[str, dict[str, str]]] = {}
    for name in RESULTS:
        lines = (ROOT / "results" / name / "journal.jsonl").read_text("utf-8").splitlines()
        rows = [row for row in map(json.loads, lines) if "item" in row]
        known = {
            row["item"] for row in rows if row["setup"].startswith("full(") and all(row["right"])
        }
        for row in rows:
            made_by = SETUP.fullmatch(row["setup"])
            if made_by and row["item"] in known and not all(row["right"]):
                method, ratio = made_by.groups()
                of_method = wrong.setdefault(method, {}).setdefault(ratio, {})
                of_method[row["item"]] = row["said"]["likelihood"]
    items = sorted({item for ratios in wrong.values() for one in ratios.values() for item in one})
    return {"questions": dict(zip(items, map(_asked, items), strict=True)), "wrong": wrong}


def _asked(item: str) -> list[str]:
    """Return question and right answer of an item."""
    seed, split, clip, place = item.split("/")
    question = ask_about(int(seed), split, int(clip), ClipSettings())[int(place)]
    return [question.text, question.answer]


if __name__ == "__main__":
    FILE.write_text(json.dumps(failures(), separators=(",", ":")) + "\n", encoding="utf-8")
