import json

import pytest

from gleanvid.cli import main
from tests.evaluation.benchmarks.test_published import MAKERS
from tests.evaluation.fakes import FakeConversation, FakeModel, draw

COLUMNS = {
    "mvbench": "action_sequence | moving_count | unexpected_action",
    "longvideobench": "8-15 s | 3-10 min",
    "mlvu": "needle | plotQA | count",
    "mlvu_test": "needleQA | plotQA | sportsQA | tutorialQA",
    "videomme": "short | medium | long",
}


class Lettered(FakeConversation):
    """Fake model that answers with an option letter."""

    def ask(self, question, sampling):
        answer = super().ask(question, sampling)
        answer.text = "ABCD"[int(4 * draw(question))]
        return answer


class Reader(FakeModel):
    def conversation(self, encoded, method):
        return Lettered(self, encoded, method)


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setattr("gleanvid.models.load_model", lambda *_, **__: Reader())
    monkeypatch.setattr("gleanvid.evaluation.tables.publish._save", lambda *_: None)

    def run(name, root, *more):
        settings = [word for k, v in MAKERS[name][1].items() for word in (f"--{k}", v)]
        given = ["eval", "--benchmark", name, "--data", str(root), *settings, *more]
        given += ["--compressor", "gleanvid", "--retention-ratio", "0.25", "--frames", "4"]
        return main([*given, "--out", str(tmp_path / "out")]), tmp_path / "out"

    return run


@pytest.mark.parametrize("name", MAKERS)
def test_eval_table_has_the_columns_of_its_published_benchmark(name, run, tmp_path):
    root = MAKERS[name][0](tmp_path / "data")
    code, out = run(name, root)
    assert code == 0
    (heads,) = [
        line for line in (out / "table.md").read_text().splitlines() if "accuracy |" in line
    ]
    assert (
        f"| frames | tokens | {COLUMNS[name]} | accuracy | 95 % | 95 %, clips | % of full |"
        in heads
    )
    whole = json.loads((out / "results.json").read_text())
    rows = {row["compressor"]: row for row in whole["results"]}
    assert set(rows) == {"full", "gleanvid"}
    for row in rows.values():
        counts = {group: row[f"{group} questions"] for group in COLUMNS[name].split(" | ")}
        assert sum(counts.values()) == row["questions"] and row["failed"] == 0
        right = sum(row[group] * count for group, count in counts.items())
        # the accuracy of the other benchmarks is the mean over groups of questions
        if name in ("videomme", "longvideobench"):
            assert row["accuracy"] == pytest.approx(right / row["questions"], abs=1e-6)
        else:
            groups = [row[group] for group in counts]
            assert row["accuracy"] == pytest.approx(sum(groups) / len(groups), abs=1e-6)
