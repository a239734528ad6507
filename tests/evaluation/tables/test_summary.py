import json
import math

import pytest

from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.random import Random
from gleanvid.compressors.uniform import Uniform
from gleanvid.compressors.vcast import VCast
from gleanvid.compressors.vidcom2 import VidCom2
from gleanvid.evaluation.benchmarks.base import Item
from gleanvid.evaluation.run.setups import Setup
from gleanvid.evaluation.tables.comparisons import holm_of_page, paired_table, standing
from gleanvid.evaluation.tables.publish import publish
from gleanvid.evaluation.tables.result_tables import evidence_table, main_table
from gleanvid.evaluation.tables.statistics import holm, wilson
from gleanvid.evaluation.tables.summary import macros_of, results
from tests.evaluation.fakes import FakeBenchmark

FULL, OURS, EVEN = (Setup(method, 8) for method in (FullTokens(), GleanVID(0.25), Uniform(0.25)))
SETUPS = [FULL, OURS, EVEN]
ITEMS = [
    Item(f"q{n}", f"clip {n // 2}", "?", ("a", "b"), 0, ("x" if n < 6 else "y",)) for n in range(8)
]
VERDICTS = {
    FULL: [1, 1, 1, 1, 1, 1, 1, 0],
    OURS: [1, 1, 1, 1, 0, 0, 1, 1],
    EVEN: [1, 0, 0, 0, 0, 0, 1, 0],
}


def rows(verdicts=VERDICTS):
    made = {}
    for setup, right in verdicts.items():
        for item, verdict in zip(ITEMS, right, strict=True):
            made[item.id, setup.key] = {
                "said": {"likelihood": "a"},
                "right": [bool(verdict), not verdict],
                "tokens": [100, 25, 20.0],
                "seconds": 0.5,
                "evidence": [10, 4, 8, 5],
                "things": [2, 1 + verdict],
                "moments": [4, 3],
            }
    return made


def test_results_equal_counts_over_journal_rows():
    full, ours, even = results(FakeBenchmark(), ITEMS, SETUPS, rows())
    assert [r.accuracy.value for r in (full, ours, even)] == [7 / 8, 6 / 8, 2 / 8]
    assert ours.accuracy == wilson(6, 8)
    assert ours.relative.value == pytest.approx(6 / 7)
    assert ours.difference.value == pytest.approx(-1 / 8)
    assert ours.groups == {"x": (wilson(4, 6), 6), "y": (wilson(2, 2), 2)}
    assert (ours.evidence.kept.value, ours.evidence.represented.value) == (0.4, 0.8)
    assert (ours.tokens, ours.tokens_kept, ours.tokens_mean, ours.seconds) == (100, 25, 20, 0.5)


def test_each_method_has_sign_flip_p_values_against_all_tokens_and_against_gleanvid():
    full, ours, even = results(FakeBenchmark(), ITEMS, SETUPS, rows())
    assert full.p_full_clips is ours.comparison is None
    # all three clips differ in the same direction: 2 of the 8 sign patterns are so extreme
    assert even.p_full_clips == pytest.approx(2 / 8, abs=0.02)
    assert even.comparison.sign_flip == pytest.approx(2 / 8, abs=0.02)
    assert even.comparison.difference.value == pytest.approx(4 / 8)


def test_failed_question_counts_as_wrong_in_every_accuracy():
    broken = rows()
    broken["q0", OURS.key] = {"error": "ModelError: out of memory"}
    ours = results(FakeBenchmark(), ITEMS, SETUPS, broken)[1]
    assert ours.accuracy.value == 5 / 8
    assert (ours.failed, ours.first_error) == (1, "ModelError: out of memory")
    assert not ours.refused
    assert ours.tokens == 100 and ours.seconds == 0.5


def test_results_with_a_missing_answer_are_refused():
    half = rows()
    del half["q3", EVEN.key]
    with pytest.raises(ValueError, match="1 answers are missing, the first for q3"):
        results(FakeBenchmark(), ITEMS, SETUPS, half)


def test_refused_setup_is_an_empty_table_row_with_the_reason():
    refused = rows()
    for item in ITEMS:
        refused[item.id, EVEN.key] = {"error": "ValueError: retention_ratio is out of reach"}
    found = results(FakeBenchmark(), ITEMS, SETUPS, refused)
    assert found[2].refused
    text = main_table(found)
    assert "| Uniform | 25% | 8 |  |" in text and " | refused |" in text
    assert f"{EVEN.key}: retention_ratio is out of reach" in text


def cells(table):
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_main_table_has_a_row_per_method_with_its_results():
    heads, _, *body = cells(main_table(results(FakeBenchmark(), ITEMS, SETUPS, rows())))
    assert [len(row) for row in body] == [len(heads)] * 3
    assert [row[0] for row in body] == ["All tokens", "GleanVID", "Uniform"]
    ours = dict(zip(heads, body[1], strict=True))
    assert (ours["x"], ours["y"], ours["accuracy"]) == ("66.7", "100.0", "75.0")
    assert (ours["% of full"], ours["tokens"]) == ("85.7", "20")


LARGE = [Item(f"q{n}", f"clip {n}", "?", ("a", "b"), 0) for n in range(20)]


def graded(right):
    """Return made-up answers of several setups to 20 questions.

    ``right``: setup -> number of questions that it answers correctly.
    """
    return {
        (item.id, setup.key): {"right": [n < count], "said": {}, "tokens": [9, 9, 9], "seconds": 1}
        for setup, count in right.items()
        for n, item in enumerate(LARGE)
    }


def test_summary_lists_methods_gleanvid_is_ahead_of_tied_with_or_behind():
    wins, same = Setup(GleanVID(0.25), 8), Setup(Uniform(0.25), 8)
    worse, better = Setup(VCast(0.25), 8), Setup(VidCom2(0.25), 8)
    right = {FULL: 20, wins: 11, same: 12, worse: 1, better: 20}
    found = results(FakeBenchmark(), LARGE, list(right), graded(right))
    told = standing(found, holm_of_page(found))
    assert told.splitlines()[-1] == (
        f"- 25% kept, 8 frames: ahead of {worse.title} (+50.0, +30.0 to +70.0); not told apart "
        f"from {same.title} (-5.0, -15.0 to +0.0); behind {better.title} (-45.0, -65.0 to -25.0)."
    )
    alone = {FULL: 20, same: 12}
    assert standing(results(FakeBenchmark(), LARGE, [FULL, same], graded(alone)), {}) == ""


def test_another_reference_turns_the_comparison_round(tmp_path):
    ours, even = Setup(GleanVID(0.25), 8), Setup(Uniform(0.25), 8)
    asked = FakeBenchmark(), LARGE, [FULL, ours, even], graded({FULL: 20, ours: 11, even: 4})
    _, first, second = results(*asked, reference="uniform")
    assert second.comparison is None
    assert first.comparison.difference.value == pytest.approx((4 - 11) / 20)
    publish(tmp_path, *asked, ("likelihood",), FACTS, kind="svg", reference="uniform")
    row = json.loads((tmp_path / "results.json").read_text())["results"][1]
    assert row["uniform_minus"] == pytest.approx(-7 / 20)
    told = (tmp_path / "table.md").read_text()
    assert "| Uniform against |" in told and "Uniform by ratio" in told


def test_holm_correction_counts_all_comparisons_of_the_report_over_all_ratios():
    pairs = [(method(share), count) for share in (0.25, 0.5) for method, count in METHODS.items()]
    right = {Setup(method, 8): count for method, count in pairs}
    found = results(FakeBenchmark(), LARGE, [FULL, *right], graded({FULL: 20} | right))
    ps = [one.comparison.sign_flip for one in found if one.comparison]
    heads, _, *body = cells(paired_table(found, holm_of_page(found)))
    assert len(body) == 4 and heads[-1] == "Holm"
    assert [float(row[-1]) for row in body] == pytest.approx(holm(ps), abs=5e-4)
    assert holm(ps)[0] != pytest.approx(holm(ps[:2])[0])


METHODS = {GleanVID: 12, Uniform: 6, VidCom2: 9}


def test_row_of_random_selection_is_the_mean_over_its_seeds():
    drawn = Setup(Random(0.25), 8)
    right = [1] * 8, [0] * 8, [1] * 4 + [0] * 4, [1] * 8, [0] * 8
    seeds = dict(zip(drawn.draws, right, strict=True))
    found = results(FakeBenchmark(), ITEMS, [FULL, OURS, drawn], rows(VERDICTS | seeds))[2]
    assert (found.draws, found.count, found.failed) == (5, 8, 0)
    assert found.accuracy.value == pytest.approx(20 / 40)
    assert found.groups["y"][0].value == pytest.approx(4 / 10)
    assert found.comparison.sign_flip <= 1
    assert found.comparison.difference.value == pytest.approx(6 / 8 - 20 / 40)
    lacking = rows(VERDICTS | seeds)
    del lacking["q3", drawn.draws[4].key]
    with pytest.raises(ValueError, match="1 answers are missing, the first for q3"):
        results(FakeBenchmark(), ITEMS, [FULL, OURS, drawn], lacking)


class Kinds(FakeBenchmark):
    macro_without = "x"


def test_macro_average_weighs_question_kinds_equally_and_can_exclude_one_kind(monkeypatch):
    monkeypatch.setattr("gleanvid.evaluation.tables.summary._FEWEST", 1)
    _, ours, even = results(Kinds(), ITEMS, SETUPS, rows())
    assert {name: mean.value for name, mean in ours.macro.items()} == pytest.approx(
        {"macro": (4 / 6 + 2 / 2) / 2, "macro without x": 2 / 2}
    )
    assert even.comparison.macro["macro without x"].value == pytest.approx(1 - 1 / 2)
    assert ours.accuracy == wilson(6, 8)
    heads = cells(main_table([ours, even]))[0]
    assert "macro without x" in heads and "macro" in heads


class Hard(Kinds):
    hard = ("rare", "cut")


def test_question_kinds_with_few_questions_are_pooled_in_macro_averages():
    kinds = ["x"] * 15 + ["cut"] * 20 + ["rare"] * 3 + ["odd"] * 14
    items = [Item(f"q{n}", "c", "?", ("a", "b"), 0, (kind,)) for n, kind in enumerate(kinds)]
    found = macros_of(Hard(), items)
    assert found["macro"] == ["x"] * 15 + ["cut"] * 20 + ["other"] * 17
    assert found["macro without x"] == [None] * 15 + ["cut"] * 20 + ["other"] * 17
    assert found["macro of hard kinds"] == [None] * 15 + ["cut"] * 20 + ["other"] * 3 + [None] * 14


def test_evidence_table_has_means_and_correlations_of_five_evidence_measures():
    _, ours, even = results(FakeBenchmark(), ITEMS, SETUPS, rows())
    means = {name: mean.value for name, mean in ours.evidence.means.items()}
    expected = {"kept": 0.4, "represented": 0.8, "reachable": 0.8, "moments": 0.75}
    assert means == pytest.approx(expected | {"things": (0.5 * 2 + 6) / 8})
    assert ours.evidence.correlations["things"] == pytest.approx(1)
    # no correlation, because the value is the same for every question
    assert math.isnan(ours.evidence.correlations["kept"])
    heads, _, *body = cells(evidence_table([ours, even]))
    assert len(body) == 2 and body[0][heads.index("r things")] == "+1.00"


FACTS = {
    "command": "gleanvid eval",
    "model": "fake",
    "model_weights": "00",
    "benchmark": {"benchmark": "fake"},
}


def test_publishing_results_writes_all_files(tmp_path):
    publish(tmp_path, FakeBenchmark(), ITEMS, SETUPS, rows(), ("likelihood",), FACTS, kind="svg")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        "results.csv",
        "results.json",
        "table.md",
        "accuracy.svg",
        "groups.svg",
        "evidence.svg",
        "evidence_represented.svg",
    }
    told = json.loads((tmp_path / "results.json").read_text())
    assert told["command"] == "gleanvid eval" and len(told["results"]) == 3
    assert "<svg" in (tmp_path / "accuracy.svg").read_text()
    assert len((tmp_path / "results.csv").read_text().splitlines()) == 4
