"""Every measured figure of README, model card and results/README, made again from ``results/``.

``python -m tests.evaluation.texts`` prints what differs and ends with 1 where anything does. A text
is compared piece by piece: tables and sentences with their figures are written here from the
result files and must stand in the text word for word; what is left of the watched sections may hold
no percentage and no decimal.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gleanvid.evaluation.tables.statistics import holm

ROOT = Path(__file__).parents[2]
README, CARD, RESULTS = "README.md", "gleanvid/models/builtin/MODEL_CARD.md", "results/README.md"
WATCHED = {
    README: ("The built-in model",),
    CARD: ("Accuracy",),
    RESULTS: ("Reading the ablations",),
}
_FIGURE = re.compile(r"\d+(?:\.\d+)? ?%|\d+\.\d+")
_RATIOS = (0.5, 0.25, 0.15, 0.1, 0.05)
_METHODS = {"gleanvid": "GleanVID", "vidcom2": "VidCom2", "random": "Random", "uniform": "Uniform"}
_MEASURES = {  # column of results.json -> how the README calls it
    "accuracy": "accuracy",
    "macro without count": "macro, without `count`",
    "evidence_moments": "evidence kept",
}


def problems(texts: Mapping[str, str] | None = None) -> Iterator[str]:
    """Sentences about what differs; ``texts`` by path, in place of the files."""
    for path in WATCHED:
        text = (texts or {}).get(path) or (ROOT / path).read_text(encoding="utf-8")
        whole = _plain(text)
        for piece in PIECES[path]():
            if _plain(piece) not in whole:
                yield f"{path} does not say: {piece}"
        left = _plain(" ".join(_section(text, title) for title in WATCHED[path]))
        for piece in PIECES[path]():
            left = left.replace(_plain(piece), " ")
        yield from (f"{path}: no result says {found}" for found in _FIGURE.findall(left))
    yield from _journals()


def _plain(text: str) -> str:
    """Without line breaks, and without commands and links, whose numbers are settings."""
    text = re.sub(r"```.*?```|\]\([^)]*\)", " ", text, flags=re.DOTALL)
    return " ".join(text.split())


def _section(text: str, title: str) -> str:
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def result(folder: str, setup: str, how: str | None = None) -> dict[str, Any]:
    """One line of a folder's ``results.json``."""
    report = json.loads((ROOT / "results" / folder / "results.json").read_text(encoding="utf-8"))
    return next(
        line
        for line in report["results"]
        if line["setup"].startswith(setup) and how in (None, line["how"])
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _readme() -> Iterator[str]:
    full = result("glimpse", "full(")
    yield (
        f"{full['questions']} questions about test clips of three seeds, four options each, 32 "
        f"frames, the built-in model, which reaches {_percent(full['accuracy'])} % with all tokens "
        "(chance is 25 %)"
    )
    for measure, title in _MEASURES.items():
        for name, method in _METHODS.items():
            rows = (result("glimpse", f"{name}(retention_ratio={ratio})@") for ratio in _RATIOS)
            shares = " | ".join(_percent(row[measure]) for row in rows)
            yield f"| {method}, {title} (%) | {shares} |"
    rows = [
        line["ratio_to_xxt"]
        for line in _bench("cpu-2-cores/compress_32x14x14x3584.json")["rows"]
        if line["compressor"] == "gleanvid"
    ]
    yield f"on two CPU cores that was {rows[0]:.2f} (`results/cpu-2-cores/`"
    yield "| visual tokens kept | 50 % | 25 % | 15 % | 10 % | 5 % |"
    yield "A Qwen3-VL of 7.3 million parameters"
    yield (
        f"ahead of random choice at {_where('random')}, of even spacing at {_where('uniform')} and "
        f"of VidCom2 at {_where('vidcom2')} (sign-flip test by clip, Holm over all comparisons, "
        "p < 0.05)"
    )
    close = result("glimpse", "vidcom2(retention_ratio=0.15)")
    key = "gleanvid_minus macro without count"
    behind, low, high = (_percent(-close[key + end]) for end in ("", "_high", "_low"))
    more = [_moments("vidcom2", ratio) > _moments("gleanvid", ratio) for ratio in _RATIOS]
    yield f"VidCom2 keeps more of it {'below 50 %' if more == [False, *[True] * 4] else '?'}"
    yield f"VidCom2 is {behind} points ahead of it at 15 % (95 % by clip: {low} to {high})"
    card, ablations = (result(folder, "full(") for folder in ("glimpse-full", "glimpse-ablations"))
    yield (
        f"reaches {_percent(card['accuracy'])} % of the card's {card['questions']:,} and "
        f"{_percent(ablations['accuracy'])} % of the ablations' {ablations['questions']}"
    )
    yield from _rivals()


def _moments(name: str, ratio: float) -> float:
    share: float = result("glimpse", f"{name}(retention_ratio={ratio})")["evidence_moments"]
    return share


def _rivals() -> Iterator[str]:
    """What the README says of the methods in ``results/glimpse-rivals``."""
    names = {"evs": "EVS", "divprune": "DivPrune", "sttm": "STTM", "floc": "FLoC", "aot": "AOT"}
    ahead = [title for name, title in names.items() if _where(name, "glimpse-rivals") == "10 %"]
    rest = [title for title in names.values() if title not in ahead]
    assert not any(_where(name, "glimpse-rivals") for name in names if names[name] in rest)
    yield f"GleanVID is ahead of {' and '.join(ahead)} at 10 %, and at no ratio of {_or(rest)}"
    pairs = [
        [
            result("glimpse-rivals", f"{name}(retention_ratio={ratio})")["macro without count"]
            for name in ("pairwise_gain", "gleanvid")
        ]
        for ratio in (0.15, 0.1)
    ]
    first, second = (" against ".join(map(_percent, pair)) for pair in pairs)
    yield f"without `count` of {first} at 15 % and {second} at 10 %"


def _or(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _where(rival: str, folder: str = "glimpse") -> str:
    """The shares kept at which GleanVID is ahead of another method, in words."""
    report = _bench(f"{folder}/results.json")
    lines = [line for line in report["results"] if "p_gleanvid_clips" in line]
    adjusted = holm([line["p_gleanvid_clips"] for line in lines])
    shares = [
        f"{line['retention_ratio']:.0%}".replace("%", " %")
        for line, p in zip(lines, adjusted, strict=True)
        if line["compressor"] == rival and p < 0.05 and line["gleanvid_minus"] > 0
    ]
    return "every ratio" if len(shares) == len(_RATIOS) else " and ".join(shares)


def _bench(name: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((ROOT / "results" / name).read_text(encoding="utf-8"))
    return report


def _card() -> Iterator[str]:
    options, words = (result("glimpse-full", "full(", how) for how in ("likelihood", "text"))
    yield f"{options['questions']} questions about 784 clips of the test split"
    yield "chance is 25 %"
    yield "Wilson's intervals, 95 %"
    yield "The aim for training on two cores, 80 % overall, is reached"
    yield "the one for a GPU, 92 % overall and 80 % in every family, is not"
    groups = [name.removesuffix(" questions") for name in options if name.endswith(" questions")]
    for group in ("", *groups):
        key = group or "accuracy"
        count = options[f"{group} questions" if group else "questions"]
        cells = [group, str(count), *(_interval(row, key) for row in (options, words))]
        if not group:
            cells = ["**all**", str(count), *(f"**{cell}**" for cell in cells[2:])]
        yield "| " + " | ".join(cells) + " |"


def _interval(row: Mapping[str, Any], key: str) -> str:
    low, high = (f"{100 * row[f'{key}_{side}']:.0f}" for side in ("low", "high"))
    return f"{_percent(row[key])} % ({low} to {high})"


def _ablations() -> Iterator[str]:
    ours = result("glimpse-ablations", "gleanvid(retention_ratio=0.15)")["accuracy"]
    without = result("glimpse-ablations", "ablation(retention_ratio=0.15, selection='random')")
    vcast = result("glimpse-ablations", "vcast(retention_ratio=0.15)")["accuracy"]
    yield f"On the built-in model at 15 % and those 300 questions {SELECTION}"
    yield from _sets()
    yield f"falls from {_percent(ours)} % to {_percent(without['accuracy'])} %"
    yield f"V-CAST ({_percent(vcast)} %)"
    yield from _first_unit()


def _sets() -> Iterator[str]:
    """Which questions the tables ask, and what is right with all tokens and at 15 %."""
    folders = ("glimpse", "glimpse-ablations", "glimpse-all", "glimpse-full")
    full = {folder: result(folder, "full(") for folder in folders}
    share = {folder: _percent(row["accuracy"]) for folder, row in full.items()}
    count = {folder: f"{row['questions']:,}" for folder, row in full.items()}
    at15 = {
        folder: _percent(result(folder, "gleanvid(retention_ratio=0.15")["accuracy"])
        for folder in folders[:3]
    }
    yield (
        f"the same {count['glimpse']} (all tokens {share['glimpse']} %, GleanVID at 15 % "
        f"{at15['glimpse']} %)"
    )
    for folder in folders[1:3]:
        yield f"`{folder}/` {count[folder]} ({share[folder]} % and {at15[folder]} %)"
    yield f"`glimpse-full/` {count['glimpse-full']} ({share['glimpse-full']} %)"


def _first_unit() -> Iterator[str]:
    rows = {
        name: result("glimpse-first-unit", f"{name}(retention_ratio=0.15")
        for name in ("gleanvid", "ablation")
    }
    accuracy, moments = (
        [_percent(rows[name][measure]) for name in ("ablation", "gleanvid")]
        for measure in ("accuracy", "evidence_moments")
    )
    yield f"accuracy at 15 %, on the 240, is {accuracy[0]} % for the paper's rule's {accuracy[1]} %"
    yield f"{moments[0]} % of the moments of evidence keep a token for {moments[1]} %"
    report = _bench("glimpse-first-unit/results.json")["results"]
    differ = holm([row["p_gleanvid_clips"] for row in report if "p_gleanvid_clips" in row])
    yield f"At {'no' if min(differ) >= 0.05 else 'some'} ratio do 240 questions tell the two apart"
    by_ratio: dict[float, list[float]] = {}
    for row in _bench("diagnose-first-unit/diagnosis.json")["means"]:
        if row["coverage_error"] > 1e-6:  # below is rounding
            by_ratio.setdefault(row["retention_ratio"], []).append(row["coverage_error"])
    widest = max(max(pair) / min(pair) - 1 for pair in by_ratio.values())
    yield f"are the same within {100 * widest:.0f} %"


SELECTION = "the selection matters most"
PIECES = {README: _readme, CARD: _card, RESULTS: _ablations}


def _journals() -> Iterator[str]:
    """Accuracies of result files that their own journals do not give."""
    for path in sorted((ROOT / "results").glob("*/journal.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()[1:]
        right: dict[str, dict[str, bool]] = {}
        for line in lines:
            row = json.loads(line)
            right.setdefault(row["setup"], {})[row["item"]] = bool(row.get("right", [False])[0])
        report = json.loads(path.with_name("results.json").read_text(encoding="utf-8"))
        ways = report["how"][0]
        for line in (line for line in report["results"] if line["how"] == ways):
            verdicts = [list(right[key].values()) for key in _draws(line, right)]
            mean = sum(map(sum, verdicts)) / sum(map(len, verdicts))
            if abs(mean - line["accuracy"]) > 1e-6:
                yield f"{path.parent.name}: {line['setup']} is {mean:.4f} by its journal"


def _draws(line: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    """Keys in the journal of a line's seeds; earlier journals call some settings otherwise."""
    from gleanvid.evaluation.run.setups import current_key, setup_from

    setup = setup_from(current_key(line["setup"]))
    draws = setup.draws if line.get("draws", 1) > 1 else (setup,)
    keys = {draw.key for draw in draws}
    return [key for key in known if current_key(key) in keys]


if __name__ == "__main__":
    found = list(problems())
    sys.stdout.write("".join(f"{problem}\n" for problem in found))
    sys.exit(bool(found))
