"""Tables of the 2,000 hard Glimpse questions, from ``results/glimpse-hard`` (and ``-96``)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from gleanvid.evaluation.benchmarks.glimpse import HARD
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.statistics import holm

RESULTS = Path(__file__).parents[1] / "results"
FOLDERS = {"glimpse-hard": "160 px", "glimpse-hard-96": "96 px"}
RATIOS = (0.25, 0.15, 0.1, 0.05)
_MEAN = "macro of hard kinds"
_NAMES = {  # label in results.json -> name in the tables
    "Ablation (selection lrs)": "LRS alone",
    "Ablation (selection scs)": "SCS alone",
    "Ablation (selection pairwise)": "Pairwise distances",
    "Ablation (first_unit centred)": "GleanVID, first unit centred",
    "Soft GleanVID (first_unit norm)": "Soft GleanVID, first unit as in the paper",
}
_ON_THE_PAGE = ("V-CAST", "VidCom2", "DivPrune", "FLoC", "EVS", "Uniform", "Random")
_WITHOUT_COLLISIONS = ("V-CAST", "Uniform", "Random", "VidCom2", "DivPrune", "FLoC")

Row = Mapping[str, Any]


@cache
def rows(folder: str) -> list[dict[str, Any]]:
    """Return an evaluation's result rows, one for each method and retention ratio."""
    report = json.loads((RESULTS / folder / "results.json").read_text(encoding="utf-8"))
    return list(report["results"])


def row_of(folder: str, label: str, ratio: float) -> dict[str, Any]:
    found = (row for row in rows(folder) if row["label"] == label)
    return next(row for row in found if row["retention_ratio"] == ratio)


def compared(
    folders: Iterable[str] = tuple(FOLDERS), reference: str = "gleanvid"
) -> list[tuple[str, Row, float]]:
    """Return (folder, row, p) of every comparison with a method by the mean over hard kinds.

    One Holm correction covers the rows of all folders.
    """
    p_raw = f"p_{reference}_clips {_MEAN}"
    found = [
        (folder, row)
        for folder in folders
        for row in rows(folder)
        if row.get(p_raw) is not None and row["failed"] < row["questions"]
    ]
    ps = holm([row[p_raw] for _, row in found])
    return [(folder, row, p) for (folder, row), p in zip(found, ps, strict=True)]


def standing(
    folders: Mapping[str, str] = FOLDERS, reference: str = "gleanvid", title: str = "GleanVID"
) -> str:
    """Return a table of one method minus each other in points; bold where p < 0.05.

    ``folders``: folder in ``results/`` -> size of its clips.
    """
    lead = f"{reference}_minus {_MEAN}"
    cells: dict[str, dict[tuple[str, float], str]] = {}
    for folder, row, p in compared(folders, reference):
        mark = "**" if p < 0.05 else ""
        own = cells.setdefault(row["label"], {})
        own[folder, row["retention_ratio"]] = f"{mark}{100 * row[lead]:+.1f}{mark}"
    places = [(folder, ratio) for folder in folders for ratio in RATIOS]
    heads = [f"{folders[folder]}, {100 * ratio:g} %" for folder, ratio in places]
    lines = [
        [_NAMES.get(label, label), *(own.get(place, "refused") for place in places)]
        for label, own in cells.items()
    ]
    return markdown_table([f"{title} minus", *heads], lines)


def collisions() -> str:
    """Return a table of GleanVID minus methods at 160 px, over all kinds and without collisions."""
    six = [kind for kind in HARD if kind != "collision"]

    def leads(label: str, ratio: float) -> str:
        ours, theirs = (row_of("glimpse-hard", name, ratio) for name in ("GleanVID", label))
        means = (fmean(ours[kind] - theirs[kind] for kind in kinds) for kinds in (HARD, six))
        return " / ".join(f"{100 * mean:+.1f}" for mean in means)

    heads = ["GleanVID minus", *(f"{100 * ratio:g} %" for ratio in RATIOS)]
    lines = [[label, *(leads(label, ratio) for ratio in RATIOS)] for label in _WITHOUT_COLLISIONS]
    return markdown_table(heads, lines)


def card_accuracy() -> str:
    """Return the built-in model's accuracy with all tokens by kind of question, in per cent."""
    whole = {folder: row_of(folder, "All tokens", 1.0) for folder in FOLDERS}
    count = whole["glimpse-hard"]
    lines = [
        [kind, f"{count[f'{kind} questions']}", *(_interval(row, kind) for row in whole.values())]
        for kind in HARD
    ]
    mean = ["**mean over kinds**", f"{count['questions']}"]
    lines.append([*mean, *(_interval(row, _MEAN) for row in whole.values())])
    return markdown_table(["kind", "questions", *FOLDERS.values()], lines)


def on_the_page() -> str:
    """Return the HTML tables that open the tab Compare: all kinds, then each kind at 10 %."""
    places = [(folder, ratio) for folder in FOLDERS for ratio in RATIOS]
    heads = [f"{FOLDERS[folder]}, {100 * ratio:g}\u00a0%" for folder, ratio in places]
    lines = [
        [label, *(_against(label, _MEAN, *place) for place in places)]
        for label in ("GleanVID", *_ON_THE_PAGE)
    ]
    whole = (
        f"{size} {_interval(row_of(folder, 'All tokens', 1.0), _MEAN)}"
        for folder, size in FOLDERS.items()
    )
    by_kind = [
        [label, *(_against(label, kind, "glimpse-hard", 0.1) for kind in HARD)]
        for label in ("GleanVID", *_ON_THE_PAGE)
    ]
    summary = "<summary>By kind of question, 160 px, 10\u00a0%</summary>"
    return (
        f"<p>With all tokens: {', '.join(whole)}.</p>\n"
        f"{_html(heads, lines)}\n<details>{summary}\n{_html(HARD, by_kind)}\n</details>"
    )


def _against(label: str, key: str, folder: str, ratio: float) -> str:
    """Return an HTML cell: accuracy with its interval, marked where it differs from GleanVID's."""
    row = row_of(folder, label, ratio)
    if row["failed"] == row["questions"]:
        return "<td>refused</td>"
    lead = _significant().get((folder, label, ratio), 0.0) if key == _MEAN else 0.0
    mark = " ▲" if lead < 0 else " ▼" if lead else ""
    value, _, interval = _interval(row, key).partition(" ")
    return f"<td>{value}{mark} <small>{interval}</small></td>"


@cache
def _significant() -> dict[tuple[str, str, float], float]:
    """Return GleanVID's lead by folder, label and ratio where p < 0.05."""
    lead = f"gleanvid_minus {_MEAN}"
    found = ((folder, row, row[lead]) for folder, row, p in compared() if p < 0.05)
    return {(folder, row["label"], row["retention_ratio"]): value for folder, row, value in found}


def _html(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    head = "".join(["<td></td>", *(f"<th>{text}</th>" for text in heads)])
    rows = "\n".join(f"<tr><th>{name}</th>{''.join(cells)}</tr>" for name, *cells in lines)
    return f'<div class="gv-scroll" tabindex="0"><table><tr>{head}</tr>\n{rows}</table></div>'


def _interval(row: Row, key: str) -> str:
    value, low, high = (100 * row[f"{key}{end}"] for end in ("", "_low", "_high"))
    return f"{value:.1f} ({low:.0f} to {high:.0f})"
