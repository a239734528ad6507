"""Tables and sentences with measured figures, each from the files in ``results/``."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.statistics import clip_mean

RESULTS = Path(__file__).parents[1] / "results"
_RATIOS = (0.5, 0.25, 0.15, 0.1, 0.05)
_METHODS = {"gleanvid": "GleanVID", "vidcom2": "VidCom2", "random": "Random", "uniform": "Uniform"}
_PLAIN = {
    "gleanvid": "GleanVID",
    "cdpruner": "CDPruner (reads the question)",
    "uniform": "uniform",
    "frames": "fewer frames",
    "resize": "lower resolution",
    "pool": "average pooling",
}
_FILMED = ("gleanvid", "ablation(selection=scs)", "uniform", "resize")
_LIMITS = (  # 16 units in these clips
    f"At 10 % the first unit, which EVS keeps whole, is {1 / 16 / 0.1:.0%} of its tokens, and STTM "
    "is far below the 30 to 50 % of\nits paper: being ahead of either there says little about them."
)
_MEASURES = {  # column of results.json -> name in the table
    "accuracy": "accuracy",
    "macro without count": "macro, without `count`",
    "evidence_moments": "evidence kept",
}


def _read(name: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    return report


def _line(folder: str, setup: str, how: str | None = None) -> dict[str, Any]:
    return next(
        line
        for line in _read(f"{folder}/results.json")["results"]
        if line["setup"].startswith(f"{setup}@") and how in (None, line["how"])
    )


def _kept(folder: str, name: str, ratio: float) -> dict[str, Any]:
    return _line(folder, f"{name}(retention_ratio={ratio})")


def _full(folder: str, how: str | None = None) -> dict[str, Any]:
    return _line(folder, "full(retention_ratio=1.0)", how)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def compress_time() -> str:
    """The time of GleanVID's ``compress`` against one X @ X^T and against VidCom2."""
    rows = _read("cpu-2-cores/compress_32x14x14x3584.json")["rows"]
    ours = next(row for row in rows if row["compressor"] == "gleanvid")
    return (
        "`bench compress` compares GleanVID's time with that of one `X @ X.T` of the same tokens. "
        f"At 32 x 14 x 14 tokens of width\n3584 on two CPU cores it took "
        f"{ours['ratio_to_xxt']:.2f} of that time, and {ours['ratio_to_vidcom2']:.1f} times as "
        "long as VidCom2\n(`results/cpu-2-cores/`, written by `bench compress --all --json`)."
    )


def glimpse() -> str:
    """Accuracy and evidence kept against the retention ratio, on the built-in model."""
    full = _full("glimpse")
    rows = [
        [f"{title}, {measure} (%)", *(_percent(_kept("glimpse", name, r)[key]) for r in _RATIOS)]
        for key, measure in _MEASURES.items()
        for name, title in _METHODS.items()
    ]
    heads = ["visual tokens kept", *(f"{ratio:.0%}".replace("%", " %") for ratio in _RATIOS)]
    return (
        f"{full['questions']} questions about test clips of three seeds, four options each, 32 "
        f"frames, the built-in model, which reaches\n{_percent(full['accuracy'])} % with all "
        f"tokens (chance is 25 %):\n\n{markdown_table(heads, rows)}"
    )


def glimpse_standing() -> str:
    """Tests of GleanVID against other methods, and where others are ahead by another average."""
    zip_ = _kept("glimpse-all", "visionzip", 0.15)
    lead = 100 * (zip_["accuracy"] - _kept("glimpse-all", "gleanvid", 0.15)["accuracy"])
    rows = [
        ("glimpse", "vidcom2", "VidCom2", (0.15,)),
        ("glimpse-rivals", "aot", "AOT", (0.15, 0.1)),
        ("glimpse-rivals", "pairwise_gain", "`pairwise_gain`", (0.15, 0.1)),
    ]
    ahead = [f"{title} {_macro(folder, name, ratios)}" for folder, name, title, ratios in rows]
    return (
        f"{_standing('glimpse')}\n\nNewer methods:\n\n{_standing('glimpse-rivals')}\n\n"
        f"{_LIMITS}\n\nBy the macro-average without `count`, others are ahead of GleanVID, in "
        "points (95 % by clip, not adjusted for looking at many):\n"
        + ";\n".join(ahead)
        + f".\n\nVisionZip, FastVID, HoliTom, FlashVID, V-CAST and others were asked "
        f"{zip_['questions']} questions (`results/glimpse-all/table.md`): at\n15 % VisionZip is "
        f"{lead:.1f} points ahead (McNemar's test, p = {zip_['p_gleanvid']:.2f})."
    )


def _macro(folder: str, name: str, ratios: Sequence[float]) -> str:
    """How far a method is ahead of GleanVID by the macro-average without ``count``."""
    key, found = "gleanvid_minus macro without count", []
    for ratio in ratios:
        line = _kept(folder, name, ratio)
        lead, low, high = (-100 * line[key + end] for end in ("", "_high", "_low"))
        found.append(f"{lead:.1f} at {100 * ratio:.0f} % ({low:.1f} to {high:.1f})")
    return " and ".join(found)


def _standing(folder: str) -> str:
    """Return the list below the paired table of an evaluation."""
    text = (RESULTS / folder / "table.md").read_text(encoding="utf-8")
    return text.partition("GleanVID by ratio")[2].split("\n\n")[1]


def downsampling() -> str:
    """One line: how far plain downsampling and CDPruner are from GleanVID at equal tokens."""
    rows = {name: _kept("glimpse-downsampling", name, 0.1) for name in _PLAIN}
    rates = ", ".join(
        f"{title} {_percent(rows[name]['accuracy'])}" for name, title in _PLAIN.items()
    )
    count = rows["gleanvid"]["questions"]
    return (
        f"At 10 %, on {count} other questions, % right: {rates}\n(all ratios and tests: "
        "`results/glimpse-downsampling/table.md`). The built-in model was never trained on "
        "averages of tokens,\nwhich the last two give it."
    )


def filmed() -> str:
    """Labels kept and agreement of the classifier on filmed clips at 10 %, with intervals."""
    labels, agreement = (
        [_filmed(name, column) for name in _FILMED] for column in ("labels", "frame top 5")
    )
    text = (RESULTS / "filmed" / "table.md").read_text(encoding="utf-8")
    told = text.partition("- 10%, labels: ")[2].partition(".\n")[0]
    return (
        f"On filmed clips, at 10 %, GleanVID keeps {labels[0]} of the labels that an image "
        f"classifier gives to tokens, its score SCS alone\n{labels[1]}, uniform {labels[2]}, "
        f"lower resolution {labels[3]} (95 % intervals by clip). By Holm's test GleanVID is\n"
        f"{told}. For the mean of a\nframe, plain downsampling is better: the five likeliest "
        f"classes agree to {agreement[0]}, SCS alone\n{agreement[1]}, uniform {agreement[2]}, "
        f"lower resolution {agreement[3]}."
    )


def _filmed(method: str, column: str) -> str:
    """Mean over the filmed clips at 10 %, in per cent, with its 95 % interval."""
    with (RESULTS / "filmed" / "rows.csv").open(encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if (r["method"], r["ratio"]) == (method, "0.1")]
    counted = [row for row in rows if not math.isnan(float(row[column]))]
    found = clip_mean([float(row[column]) for row in counted], [row["clip"] for row in counted])
    return f"{100 * found.value:.0f} % ({100 * found.low:.0f} to {100 * found.high:.0f})"


def card_accuracy() -> str:
    """Accuracy of the built-in model on all tokens, by family of questions."""
    options, words = (_full("glimpse-full", how) for how in ("likelihood", "text"))
    names = [name.removesuffix(" questions") for name in options if name.endswith(" questions")]
    rows = [_card_row(options, words, name, str(options[f"{name} questions"])) for name in names]
    whole = _card_row(options, words, "accuracy", str(options["questions"]))
    bold = ["**all**", whole[1], *(f"**{cell}**" for cell in whole[2:])]
    heads = ["family", "questions", "four options", "free, in words"]
    return markdown_table(heads, [bold, *rows], numbers=False)


def _card_row(
    options: Mapping[str, Any], words: Mapping[str, Any], name: str, count: str
) -> list[str]:
    return [name, count, _interval(options, name), _interval(words, name)]


def _interval(row: Mapping[str, Any], key: str) -> str:
    low, high = (f"{100 * row[f'{key}_{side}']:.0f}" for side in ("low", "high"))
    return f"{_percent(row[key])} % ({low} to {high})"


def question_sets() -> str:
    """The questions of each folder, and the accuracy with all tokens and at 15 %."""
    rows = []
    for folder in ("glimpse", "glimpse-ablations", "glimpse-all", "glimpse-full"):
        full = _full(folder)
        at_15 = (
            _percent(_kept(folder, "gleanvid", 0.15)["accuracy"])
            if folder != "glimpse-full"
            else ""
        )
        rows.append([f"`{folder}/`", f"{full['questions']:,}", _percent(full["accuracy"]), at_15])
    return markdown_table(["folder", "questions", "all tokens (%)", "GleanVID at 15 % (%)"], rows)


def ablations() -> str:
    """The variants that the section on ablations speaks of."""
    variants: Sequence[tuple[str, str, str]] = (
        ("glimpse-ablations", "GleanVID", "gleanvid(retention_ratio=0.15)"),
        ("glimpse-ablations", "w/o CTS", "ablation(retention_ratio=0.15, selection='random')"),
        ("glimpse-ablations", "V-CAST", "vcast(retention_ratio=0.15)"),
        ("glimpse-first-unit", "GleanVID", "gleanvid(retention_ratio=0.15)"),
        (
            "glimpse-first-unit",
            "first unit's novelty from the clip's mean",
            "ablation(retention_ratio=0.15, first_unit='centred')",
        ),
    )
    rows = []
    for folder, label, setup in variants:
        line = _line(folder, setup)
        moments = _percent(line["evidence_moments"]) if "evidence_moments" in line else ""
        rows.append([f"`{folder}/`", label, _percent(line["accuracy"]), moments])
    heads = ["folder", "variant at 15 %", "accuracy (%)", "evidence kept (%)"]
    return markdown_table(heads, rows)
