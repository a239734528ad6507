"""Writes tables and measured figures into the documentation: ``python -m tools.write_tables``.

A text marks the place of a table with ``<!-- table: NAME -->`` and ``<!-- end of table -->``.
Every figure comes from the code or from the files in ``results/``.
"""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from gleanvid.compressors import COMPRESSORS
from gleanvid.evaluation.catalogue import Facts, compressor_table, model_table
from gleanvid.evaluation.catalogue import methods as facts_of_methods
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.models.loading.load import BUILTIN

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
_PLACE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
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
_LIMITS = (  # 16 units in these clips
    f"At 10 % the first unit, which EVS keeps whole, is {1 / 16 / 0.1:.0%} of its tokens, and STTM "
    "is far below the 30 to 50 % of\nits paper: being ahead of either there says little about them."
)
_MEASURES = {  # column of results.json -> name in the table
    "accuracy": "accuracy",
    "macro without count": "macro, without `count`",
    "evidence_moments": "evidence kept",
}


def texts() -> list[Path]:
    """The files that may hold tables."""
    documents = [ROOT / "README.md", BUILTIN / "MODEL_CARD.md", RESULTS / "README.md"]
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return [*documents, *(page for page in pages if not {"_build", "generated"} & {*page.parts})]


def written(text: str) -> str:
    """``text`` with every table in its current form. Raises ``KeyError`` for an unknown name."""
    return _PLACE.sub(lambda place: f"{place[1]}{TABLES[place[2]]().strip()}\n{place[3]}", text)


def main() -> None:
    """Write the tables of all texts, and name the files that changed."""
    for path in texts():
        before = path.read_text(encoding="utf-8")
        if (now := written(before)) != before:
            path.write_text(now, encoding="utf-8")
            print(path.relative_to(ROOT))


def results(folder: str) -> list[dict[str, Any]]:
    """The lines of ``results/FOLDER/results.json``."""
    lines: list[dict[str, Any]] = _read(f"{folder}/results.json")["results"]
    return lines


def _read(name: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    return report


def _line(folder: str, setup: str, how: str | None = None) -> dict[str, Any]:
    return next(
        line
        for line in results(folder)
        if line["setup"].startswith(f"{setup}@") and how in (None, line["how"])
    )


def _kept(folder: str, name: str, ratio: float) -> dict[str, Any]:
    return _line(folder, f"{name}(retention_ratio={ratio})")


def _full(folder: str, how: str | None = None) -> dict[str, Any]:
    return _line(folder, "full(retention_ratio=1.0)", how)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def compress_time() -> str:
    """The time of GleanVID's ``compress`` as a fraction of one X @ X^T."""
    rows = _read("cpu-2-cores/compress_32x14x14x3584.json")["rows"]
    ratio = next(row["ratio_to_xxt"] for row in rows if row["compressor"] == "gleanvid")
    return (
        "`bench compress` compares GleanVID's time with that of one `X @ X.T` of the same tokens. "
        f"At 32 x 14 x 14 tokens of width\n3584 on two CPU cores it took {ratio:.2f} of that time "
        "(`results/cpu-2-cores/`, written by `bench compress --all --json`)."
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
    key = "gleanvid_minus macro without count"
    close = _kept("glimpse", "vidcom2", 0.15)
    behind, low, high = (_percent(-close[key + end]) for end in ("", "_high", "_low"))
    pairs = [
        [
            _kept("glimpse-rivals", name, ratio)["macro without count"]
            for name in ("pairwise_gain", "gleanvid")
        ]
        for ratio in (0.15, 0.1)
    ]
    first, second = (" against ".join(map(_percent, pair)) for pair in pairs)
    return (
        f"{_standing('glimpse')}\n\nNewer methods:\n\n{_standing('glimpse-rivals')}\n\n"
        f"{_LIMITS}\n\n"
        f"By the macro-average without `count`, VidCom2 is {behind} points ahead of GleanVID at "
        f"15 % (95 % by clip: {low} to {high}),\nand `pairwise_gain` has {first} at 15 % and "
        f"{second} at 10 %; neither is adjusted for looking at many."
    )


def _standing(folder: str) -> str:
    """The list below the paired table of an evaluation."""
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
    """One line: labels kept and agreement of the head on filmed clips, at 10 %."""
    labels, agreement = (
        [_filmed(name, column) for name in ("gleanvid", "uniform", "resize")]
        for column in ("labels", "frame top 5")
    )
    return (
        f"On filmed clips, at 10 %, GleanVID keeps {labels[0]} % of the labels that an image "
        f"classifier gives to tokens, uniform {labels[1]} %,\nlower resolution {labels[2]} %. But "
        "for the mean of a frame, plain downsampling is better: the five likeliest classes agree "
        f"to\n{agreement[0]} % (uniform {agreement[1]} %, lower resolution {agreement[2]} %)."
    )


def _filmed(method: str, column: str) -> str:
    """Mean over the filmed clips at 10 %, in per cent."""
    with (RESULTS / "filmed" / "rows.csv").open(encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if (r["method"], r["ratio"]) == (method, "0.1")]
    values = [float(row[column]) for row in rows]
    return f"{100 * fmean(value for value in values if not math.isnan(value)):.0f}"


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
    """The questions of each folder, and what is right with all tokens and at 15 %."""
    rows = []
    for folder in ("glimpse", "glimpse-ablations", "glimpse-all", "glimpse-full"):
        full = _full(folder)
        ours = [line for line in results(folder) if line["setup"] == _ours(0.15)]
        at_15 = _percent(ours[0]["accuracy"]) if ours else ""
        rows.append([f"`{folder}/`", f"{full['questions']:,}", _percent(full["accuracy"]), at_15])
    return markdown_table(["folder", "questions", "all tokens (%)", "GleanVID at 15 % (%)"], rows)


def _ours(ratio: float) -> str:
    return f"gleanvid(retention_ratio={ratio})@32"


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


def methods() -> str:
    """One row per method: its name with a link to the paper, its idea, and where it acts."""
    heads = ["method", "idea", "acts ... the language model"]
    rows = [
        (_linked(facts), _idea(facts.name), facts.acts.removesuffix(" the language model"))
        for facts in facts_of_methods()
    ]
    return markdown_table(heads, rows, numbers=False)


def _linked(facts: Facts) -> str:
    link = re.search(r"https://\S+", facts.paper)
    return f"[{facts.title}]({link[0]})" if link else facts.title


def _idea(name: str) -> str:
    """The first line of the method's module, without its name."""
    summary = (sys.modules[COMPRESSORS[name].__module__].__doc__ or "").partition("\n\n")[0]
    idea = " ".join((summary.partition(": ")[2] or summary).split())
    return idea[0].upper() + idea[1:].rstrip(".")


TABLES = {
    "methods": methods,
    "compressors": compressor_table,
    "models": model_table,
    "compress-time": compress_time,
    "glimpse": glimpse,
    "glimpse-standing": glimpse_standing,
    "glimpse-downsampling": downsampling,
    "filmed": filmed,
    "card-accuracy": card_accuracy,
    "question-sets": question_sets,
    "ablations": ablations,
}


def outdated() -> Iterator[str]:
    """The texts whose tables are not in their current form, and tables that no text holds."""
    shown: set[str] = set()
    for path in texts():
        text = path.read_text(encoding="utf-8")
        shown |= {place[2] for place in _PLACE.finditer(text)}
        if written(text) != text:
            yield str(path.relative_to(ROOT))
    yield from (f"table: {name}" for name in TABLES if name not in shown)


if __name__ == "__main__":
    main()
