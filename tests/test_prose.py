"""Figures in prose are those of the result files that a command wrote."""

import json
from pathlib import Path

import pytest

from gleanvid.glimpse.questions.questions import FAMILIES
from gleanvid.models.loading.load import BUILTIN

ROOT = Path(__file__).parents[1]
NAMES = {"GleanVID": "gleanvid", "VidCom2": "vidcom2", "Random": "random", "Uniform": "uniform"}
COLUMNS = {"accuracy (%)": "accuracy", "evidence kept (%)": "evidence_moments"}
RATIOS = (0.5, 0.25, 0.15, 0.1, 0.05)


def results(folder):
    return json.loads((ROOT / "results" / folder / "results.json").read_text())["results"]


def cells(text, start):
    lines = [line for line in text.splitlines() if line.startswith(f"| {start} |")]
    assert len(lines) == 1, start
    return [cell.strip() for cell in lines[0].split("|")[2:-1]]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("column", COLUMNS)
def test_the_readme_s_curve_has_the_figures_of_its_results(name, column):
    rows = {(r["compressor"], r["retention_ratio"]): r for r in results("glimpse")}
    wanted = [f"{100 * rows[NAMES[name], ratio][COLUMNS[column]]:.1f}" for ratio in RATIOS]
    assert cells((ROOT / "README.md").read_text(), f"{name}, {column}") == wanted


def test_the_readme_s_full_accuracy_is_that_of_its_results():
    full = next(row for row in results("glimpse") if row["compressor"] == "full")
    text = " ".join((ROOT / "README.md").read_text().split())
    assert f"which reaches {100 * full['accuracy']:.1f} % with all tokens" in text


@pytest.mark.parametrize("family", FAMILIES)
def test_the_card_has_the_figures_of_its_results(family):
    rows = {row["how"]: row for row in results("glimpse-full")}
    count, options, words = cells((BUILTIN / "MODEL_CARD.md").read_text(), family)
    assert count == str(rows["likelihood"][f"{family} questions"])
    for cell, how in ((options, "likelihood"), (words, "text")):
        assert cell.startswith(f"{100 * rows[how][family]:.1f} %")
