"""The short table of the filmed clips in docs/limits.md, from ``results/filmed/rows.csv``."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.statistics import clip_mean

ROWS = Path(__file__).parents[1] / "results" / "filmed" / "rows.csv"
METHODS = {  # method in the file -> title
    "gleanvid": "GleanVID",
    "ablation(selection=scs)": "SCS alone",
    "uniform": "Uniform",
    "resize": "Resize",
}


def summary() -> str:
    """Return a table of what four methods keep of a classifier's view at 10 %, in per cent."""
    with ROWS.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if float(row["ratio"]) == 0.1]
    lines = [
        [
            title,
            *(
                _percent([row for row in rows if row["method"] == name], column)
                for column in ("labels", "frame top 5")
            ),
        ]
        for name, title in METHODS.items()
    ]
    heads = ["at 10 %", "labels kept (%)", "top-5 classes of a frame's mean kept (%)"]
    return markdown_table(heads, lines)


def _percent(rows: Sequence[Mapping[str, str]], column: str) -> str:
    """Return the mean over clips with its bootstrap interval, in per cent."""
    pairs = [(float(row[column] or "nan"), row["clip"]) for row in rows]
    known = [pair for pair in pairs if not math.isnan(pair[0])]
    found = clip_mean(*zip(*known, strict=True))
    return f"{100 * found.value:.0f} ({100 * found.low:.0f} to {100 * found.high:.0f})"
