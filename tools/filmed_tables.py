"""Short tables of the filmed clips at 10 %, from ``results/filmed/rows.csv``."""

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
    """Return a table of what four methods keep of a classifier's view, in per cent."""
    heads = {"labels": "labels kept (%)", "frame top 5": "top-5 classes of a frame's mean kept (%)"}
    return _table(METHODS, heads)


def soft() -> str:
    """Return a table of Soft GleanVID beside others, with the paper's diagnostics."""
    methods = {
        "gleanvid": "GleanVID",
        "gleanvid_soft": "Soft GleanVID",
        "vcast": "V-CAST",
        "uniform": "Uniform",
    }
    heads = {
        "labels": "labels kept (%)",
        "frame top 5": "classes kept (%)",
        "coverage error": "coverage error (%)",
        "residual energy": "residual energy (%)",
        "effective rank": "effective rank",
    }
    return _table(methods, heads)


def _table(methods: Mapping[str, str], heads: Mapping[str, str]) -> str:
    with ROWS.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if float(row["ratio"]) == 0.1]
    lines = [
        [title, *(_mean([row for row in rows if row["method"] == name], key) for key in heads)]
        for name, title in methods.items()
    ]
    return markdown_table(["at 10 %", *heads.values()], lines)


def _mean(rows: Sequence[Mapping[str, str]], column: str) -> str:
    """Return the mean over clips with its bootstrap interval; fractions are in per cent."""
    scale = 1 if column == "effective rank" else 100
    pairs = [(float(row[column] or "nan"), row["clip"]) for row in rows]
    known = [pair for pair in pairs if not math.isnan(pair[0])]
    found = clip_mean(*zip(*known, strict=True))
    return f"{scale * found.value:.0f} ({scale * found.low:.0f} to {scale * found.high:.0f})"
