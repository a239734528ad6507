"""GleanVID against other methods on Glimpse, with one Holm correction for all comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.comparisons import side
from gleanvid.evaluation.tables.statistics import holm
from tools.result_tables import full, kept, results

_LIMITS = (  # the clips have 16 units
    f"At 10 % the first unit, which EVS keeps whole, is {1 / 16 / 0.1:.0%} of its tokens, and STTM "
    "is far below the 30 to 50 % of\nits paper: a lead over either there says little about them."
)
_COMPARED = {  # folders in results/ -> heading; one Holm correction covers all their comparisons
    "glimpse": "",
    "glimpse-rivals": "Newer methods",
    "glimpse-all": "Others, {questions} questions of one seed",
    "glimpse-dycoke": "DyCoke, at a ratio it can reach and at the least it can reach",
    "glimpse-downsampling": "Plain downsampling, and CDPruner, which reads the question; "
    "{questions} other questions",
}

_HARD = {"glimpse-hard": "At 160 px", "glimpse-hard-96": "At 96 px"}  # folder -> heading
_HARD_MEAN = "macro of hard kinds"
_DROPS = {
    "gleanvid": "GleanVID",
    "random": "random",
    "vcast": "V-CAST",
    "vidcom2": "VidCom2",
    "uniform": "evenly spaced",
    "floc": "FLoC",
    "divprune": "DivPrune",
}

_NAMES = {  # label in results.json -> name in the tables
    "Ablation (selection lrs)": "LRS alone",
    "Ablation (selection scs)": "SCS alone",
    "Ablation (selection pairwise)": "Pairwise distances",
}

# pairs: a result row of a method, and the corrected p-value of its difference from GleanVID
Compared = Sequence[tuple[Mapping[str, Any], float]]


def compared(folders: Iterable[str] = _COMPARED, average: str = "") -> dict[str, Compared]:
    """Return by folder the rows of methods compared with GleanVID, with p-values.

    One Holm correction covers the rows of all folders. ``average``: the macro-average that is
    compared, by its name in results.json; "" compares accuracies.
    """
    p_raw = f"p_gleanvid_clips {average}".strip()
    lines = {
        folder: [
            line
            for line in results(folder)
            if line.get(p_raw) is not None and line["failed"] < line["questions"]
        ]
        for folder in folders
    }
    ps = iter(holm([line[p_raw] for own in lines.values() for line in own]))
    return {folder: [(line, next(ps)) for line in own] for folder, own in lines.items()}


def glimpse_standing() -> str:
    """Return tables that compare GleanVID with other methods by accuracy, and sentences."""
    found = compared()
    parts = [_legend(found, "below")]
    for folder, about in _COMPARED.items():
        count = full(folder)["questions"]
        parts += [f"{about.format(questions=count)}:"] if about else []
        parts.append(_table(folder, found[folder]))
    averages = [
        f"{title} {_macro(folder, name, ratios)}"
        for folder, name, title, ratios in (
            ("glimpse", "vidcom2", "VidCom2", (0.15, 0.1)),
            ("glimpse-rivals", "aot", "AOT", (0.15, 0.1)),
            ("glimpse-rivals", "pairwise_gain", "`pairwise_gain`", (0.15, 0.1)),
        )
    ]
    parts.append(_LIMITS)
    parts.append(
        "Others minus GleanVID by the macro-average without `count`, in points (95 % by clip, not "
        "adjusted):\n" + ";\n".join(averages) + "."
    )
    return "\n\n".join(parts)


def hard_standing() -> str:
    """Return tables that compare GleanVID with other methods by the mean of hard families."""
    found = compared(_HARD, _HARD_MEAN)
    parts = [_legend(found, "of both sizes")]
    for folder, about in _HARD.items():
        whole = 100 * full(folder)[_HARD_MEAN]
        parts.append(f"{about} (all tokens {whole:.1f} %, `{folder}/`):")
        parts.append(_table(folder, found[folder], _HARD_MEAN))
    drops = ", ".join(f"{title} {_drop(name):.1f}" for name, title in _DROPS.items())
    parts.append(
        f"From 25 to 15 % at 160 px these lose, in points: {drops}. In the paper GleanVID loses "
        "1.6\n(of relative performance) and VidCom2 4.1."
    )
    return "\n\n".join(parts)


def _legend(found: Mapping[str, Compared], where: str) -> str:
    count = sum(map(len, found.values()))
    return (
        f"GleanVID minus each method, in points (95 % by clip, not adjusted). **Bold**: told apart "
        f"by Holm over all {count} comparisons\n{where}; the kind of question that carries most of "
        "a clear difference (p < 0.005 before Holm) stands behind it."
    )


def _table(folder: str, lines: Compared, average: str = "") -> str:
    """Return the table of GleanVID minus each method, a row a method and a column a ratio."""
    cells: dict[str, dict[float, str]] = {}
    for line, p in lines:
        own = cells.setdefault(line["label"], {})
        own[line["retention_ratio"]] = _difference(folder, line, p, average)
    ratios = list(dict.fromkeys(line["retention_ratio"] for line, _ in lines))
    rows = [
        [_NAMES.get(label, label), *(own.get(ratio, "") for ratio in ratios)]
        for label, own in cells.items()
    ]
    heads = ["GleanVID minus", *(f"{100 * ratio:g} %" for ratio in ratios)]
    return markdown_table(heads, rows).strip()


def _difference(folder: str, line: Mapping[str, Any], p: float, average: str) -> str:
    key, p_raw = (f"{name} {average}".strip() for name in ("gleanvid_minus", "p_gleanvid_clips"))
    points, low, high = (100 * line[f"{key}{end}"] for end in ("", "_low", "_high"))
    mark = "**" if p < 0.05 else ""
    text = f"{mark}{points:+.1f}{mark} ({low:+.1f} to {high:+.1f})"
    if p >= 0.05 and line[p_raw] >= 0.005:
        return text
    ours = kept(folder, "gleanvid", line["retention_ratio"])
    parts = {name: _part(ours, line, name, average) for name in _kinds(line)}
    most = max(parts, key=lambda name: parts[name] * line[key])
    return f"{text} `{most}` {parts[most]:+.1f}"


def hard_verdicts() -> set[tuple[str, str, str, float]]:
    """Return (folder, "ahead of" or "behind", method, ratio) of all significant differences."""
    return {
        (folder, verdict, line["label"], line["retention_ratio"])
        for folder, lines in compared(_HARD, _HARD_MEAN).items()
        for line, p in lines
        if (verdict := side(line[f"gleanvid_minus {_HARD_MEAN}"], p)) != "not told apart from"
    }


def _drop(name: str) -> float:
    """Return how many points a method loses from 25 to 15 % by the mean of hard families."""
    high, low = (kept("glimpse-hard", name, ratio)[_HARD_MEAN] for ratio in (0.25, 0.15))
    return 100 * (high - low)


def _macro(folder: str, name: str, ratios: Sequence[float]) -> str:
    """Return the text of a method's macro-average minus GleanVID's, at each ratio.

    The macro-average leaves out the question type ``count``.
    """
    key, found = "gleanvid_minus macro without count", []
    for ratio in ratios:
        line = kept(folder, name, ratio)
        lead, low, high = (-100 * line[key + end] for end in ("", "_high", "_low"))
        found.append(f"{lead:+.1f} at {100 * ratio:.0f} % ({low:.1f} to {high:.1f})")
    return " and ".join(found)


def _kinds(line: Mapping[str, Any]) -> list[str]:
    return [name.removesuffix(" questions") for name in line if name.endswith(" questions")]


def _part(ours: Mapping[str, Any], line: Mapping[str, Any], kind: str, average: str) -> float:
    """Return how many points of a difference come from one question type.

    In the accuracy ("") a type counts by its questions; in a mean of types, all count alike.
    """
    weight = 1 / len(_kinds(line)) if average else line[f"{kind} questions"] / line["questions"]
    return 100 * weight * (ours[kind] - line[kind])
