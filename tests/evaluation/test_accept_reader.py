import json
import sys

import pytest

from gleanvid.evaluation.benchmarks.base import Item
from gleanvid.evaluation.benchmarks.glimpse import HARD
from gleanvid.models.loading.load import BUILTIN
from tools import accept_reader
from tools.accept_reader import BENCHMARK, HALF, SEED, WHOLE, card, judge


def item(number, family):
    return Item(f"{number}", f"clip {number // 2}", "?", ("a", "b"), 0, (family,))


ITEMS = [item(n, HARD[n % 7]) for n in range(700)] + [item(n, "shape") for n in range(700, 1400)]


def verdicts_except(wrong):
    """Return question id -> verdict; the first ``wrong`` questions, all hard, are wrong."""
    return {each.id: int(each.id) >= wrong for each in ITEMS}


@pytest.mark.parametrize(
    ("whole", "half", "kept"),
    [
        (100, 121, (True, True, True)),
        # with half of the tokens, 22 more of the 700 hard questions are wrong: 3.1 points
        (100, 122, (True, False, True)),
        # 2 points less on hard questions are allowed, but not fewer right answers in total
        (114, 114, (True, True, False)),
        (115, 115, (False, True, False)),
    ],
)
def test_trained_model_is_accepted_only_if_it_passes_all_three_acceptance_rules(whole, half, kept):
    report = judge(ITEMS, verdicts_except(100), verdicts_except(whole), verdicts_except(half))
    assert tuple(report["rules"].values()) == kept
    assert report["accepted"] == all(kept)
    assert report["hard"]["all tokens"] == pytest.approx((700 - whole) / 700, abs=1e-4)
    lost = report["hard_half_minus_all_tokens"]
    assert lost["low"] <= lost["value"] <= lost["high"] <= 0


def test_answers_stored_with_the_model_card_give_its_published_accuracy():
    verdicts = card()
    assert len(verdicts) == 2000
    assert sum(verdicts.values()) / 2000 == pytest.approx(0.870)


def test_shipped_model_repeats_the_model_card_s_answers_and_a_second_run_asks_nothing(
    tmp_path, monkeypatch, capsys
):
    arguments = [str(BUILTIN), "--out", str(tmp_path), "--limit", "6", "--workers", "1"]
    monkeypatch.setattr(sys, "argv", ["accept_reader", *arguments])
    accept_reader.main()
    report = json.loads((tmp_path / "acceptance.json").read_text())
    assert report["questions"] == 6
    assert report["accuracy"]["all tokens"] == report["accuracy"]["shipped, all tokens"]
    before = (tmp_path / "acceptance.jsonl").read_bytes()
    accept_reader.main()
    assert (tmp_path / "acceptance.jsonl").read_bytes() == before
    assert len(before.splitlines()) == 1 + 2 * 6
    capsys.readouterr()


def test_published_acceptance_numbers_follow_from_the_stored_answers():
    folder = accept_reader.RESULTS / "reader"
    report = json.loads((folder / "acceptance.json").read_text("utf-8"))
    rows = [json.loads(line) for line in (folder / "acceptance.jsonl").read_text().splitlines()[1:]]
    whole, half = (
        {row["item"]: bool(row["right"][0]) for row in rows if row["setup"] == setup.key}
        for setup in (WHOLE, HALF)
    )
    items = BENCHMARK.items(report["questions"], SEED)
    shipped = card(folder / "shipped.jsonl")
    assert json.loads(json.dumps(judge(items, shipped, whole, half))) == report
