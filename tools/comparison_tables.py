"""GleanVID against other methods on Glimpse, with one Holm correction for all comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.comparisons import side
from gleanvid.evaluation.tables.statistics import holm
from tools.result_tables import full, kept, results

_FIRST_OF_EVS = 100 / 16 / 0.1  # per cent of its tokens at 10 %: the clips have 16 units
_LIMITS = (
    f"Leads at 10 % over EVS ({_FIRST_OF_EVS:.0f} % of its tokens are the first unit) and STTM (30 "
    "to 50 % in its paper) say little."
)
_COMPARED = {  # folders in results/ -> heading; one Holm correction covers all their comparisons
    "glimpse": "The {questions} questions of the table above",
    "glimpse-rivals": "The same {questions} questions, newer methods",
    "glimpse-dycoke": "The same {questions} questions, DyCoke at 50 % and at its minimum",
    "glimpse-all": "{questions} questions of one seed",
    "glimpse-downsampling": "{questions} other questions, plain downsampling, and CDPruner, which "
    "reads the question",
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
        whole = full(folder)
        title = about.format(questions=whole["questions"])
        parts.append(f"{title} (all tokens {100 * whole['accuracy']:.1f} %, `{folder}/`):")
        parts.append(_table(folder, found[folder]))
    averages = [
        f"{title} {_macro(folder, name, ratios)}"
        for folder, name, title, ratios in (
            ("glimpse", "vidcom2", "VidCom2", (0.15, 0.1)),
            ("glimpse-rivals", "pairwise_gain", "Pairwise gain", (0.15, 0.1)),
            ("glimpse-rivals", "aot", "AOT", (0.15, 0.1)),
        )
    ]
    parts.append(
        f"{_LIMITS} `count` carries some of them: by the mean over kinds without `count`, GleanVID "
        "minus these is, in points\n(95 % by clip, not adjusted): " + "; ".join(averages) + "."
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
    parts.append(_drops())
    return "\n\n".join(parts)


def hard_grid() -> str:
    """Return the table of significant differences on the hard questions, a row a method."""
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for folder, verdict, label, ratio in hard_verdicts():
        own = found.setdefault(_NAMES.get(label, label), {})
        own.setdefault(folder, {}).setdefault(verdict.removesuffix(" of"), []).append(ratio)
    rows = [
        [label, *(_sides(own.get(folder, {})) for folder in _HARD)] for label, own in found.items()
    ]
    return markdown_table(["GleanVID against", "160 px", "96 px"], rows, numbers=False)


def _sides(ratios: Mapping[str, Sequence[float]]) -> str:
    return ", ".join(
        f"{verdict} at {', '.join(f'{100 * ratio:g}' for ratio in own)} %"
        for verdict, own in ratios.items()
    )


def _legend(found: Mapping[str, Compared], where: str) -> str:
    count = sum(map(len, found.values()))
    return (
        "GleanVID minus each method, in points (95 % by clip, not adjusted); above 0, GleanVID is "
        f"better. **Bold**: significant, Holm over\nall {count} comparisons {where}. After "
        "differences with p < 0.005 before Holm: the kind of question that contributes most, and "
        "its part\nof the points."
    )


def _table(folder: str, lines: Compared, average: str = "") -> str:
    """Return the table of GleanVID minus each method, a row a method and a column a ratio."""
    cells: dict[str, dict[float, str]] = {}
    for line, p in lines:
        own = cells.setdefault(line["label"], {})
        own[line["retention_ratio"]] = _difference(folder, line, p, average)
    ratios = list(dict.fromkeys(line["retention_ratio"] for line, _ in lines))
    rows = [
        [_NAMES.get(label, label), *(own.get(ratio, "refused") for ratio in ratios)]
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
    return f"{text}; `{most}` {parts[most]:+.1f}"


def hard_verdicts() -> list[tuple[str, str, str, float]]:
    """Return (folder, "ahead of" or "behind", method, ratio) of all significant differences."""
    return [
        (folder, verdict, line["label"], line["retention_ratio"])
        for folder, lines in compared(_HARD, _HARD_MEAN).items()
        for line, p in lines
        if (verdict := side(line[f"gleanvid_minus {_HARD_MEAN}"], p)) != "not told apart from"
    ]


def _drops() -> str:
    """Return sentences on the loss from 25 to 15 %, here and in the paper, in points."""
    here = [f"{title} {_drop('glimpse-hard', name):.1f}" for name, title in _DROPS.items()]
    return (
        "From 25 to 15 % kept, accuracy relative to all tokens falls by, in points (160 px): "
        f"{', '.join(here)}.\nIn the paper (Qwen3-VL-8B, 32 frames): GleanVID 1.6, V-CAST 2.8, "
        "VidCom2 4.1."
    )


def _drop(folder: str, name: str) -> float:
    high, low = (kept(folder, name, ratio)["relative"] for ratio in (0.25, 0.15))
    return 100 * (high - low)


def _macro(folder: str, name: str, ratios: Sequence[float]) -> str:
    """Return the text of GleanVID's macro-average minus a method's, at each ratio.

    The macro-average leaves out the question type ``count``.
    """
    key, found = "gleanvid_minus macro without count", []
    for ratio in ratios:
        line = kept(folder, name, ratio)
        lead, low, high = (100 * line[key + end] for end in ("", "_low", "_high"))
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
