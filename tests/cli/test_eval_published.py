"""``gleanvid eval`` on small folders in the published formats, from the command to the table."""

import json

import pytest

from gleanvid.cli import main
from tests.evaluation.benchmarks import folders
from tests.evaluation.benchmarks.test_published import MAKERS, ROWS
from tests.evaluation.fakes import FakeConversation, FakeModel, draw

COLUMNS = {
    "mvbench": "action_sequence | moving_count | unexpected_action",
    "longvideobench": "8-15 s | 3-10 min",
    "mlvu": "needle | plotQA | count",
    "mlvu_test": "needleQA | plotQA | sportsQA | tutorialQA",
    "videomme": "short | medium | long",
}


class Lettered(FakeConversation):
    """Answers with a letter."""

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

    def run(name, root, *more):
        settings = [word for k, v in MAKERS[name][1].items() for word in (f"--{k}", v)]
        given = ["eval", "--benchmark", name, "--data", str(root), *settings, *more]
        given += ["--compressor", "gleanvid", "--retention-ratio", "0.25", "--frames", "4"]
        return main([*given, "--out", str(tmp_path / "out")]), tmp_path / "out"

    return run


@pytest.mark.parametrize("name", MAKERS)
def test_the_table_has_the_benchmark_s_columns(name, run, tmp_path):
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
        if name in ("videomme", "longvideobench"):  # the others average over groups
            assert row["accuracy"] == pytest.approx(right / row["questions"], abs=1e-6)
        else:
            groups = [row[group] for group in counts]
            assert row["accuracy"] == pytest.approx(sum(groups) / len(groups), abs=1e-6)


FILES = {
    "mvbench": "json/moving_count.json",
    "longvideobench": "lvb_val.json",
    "mlvu": "mlvu/test-00000-of-00001.parquet",
    "mlvu_test": "mlvu_test/test-00000-of-00001.parquet",
    "videomme": "videomme/test-00000-of-00001.parquet",
}


def rows_of(name):
    return ROWS["mlvu" if name == "mlvu_test" else name]()


@pytest.mark.parametrize("name", MAKERS)
def test_a_missing_column_and_a_missing_video_are_told(name, run, tmp_path, capsys):
    root = MAKERS[name][0](tmp_path / "data")
    lacking = [{k: v for k, v in row.items() if k != "question"} for row in rows_of(name)]
    whole = (root / FILES[name]).read_bytes()
    folders.write_rows(root / FILES[name], lacking)
    assert run(name, root)[0] == 2
    assert "row 0 has no question; it has" in capsys.readouterr().err
    (root / FILES[name]).write_bytes(whole)
    for clip in root.rglob("*.mp4"):
        clip.unlink()
    assert run(name, root)[0] == 2
    assert f"videos of {name} are missing below" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_id_that_comes_twice_is_told(run, tmp_path, capsys):
    root = folders.videomme(tmp_path / "data")
    rows = [row | {"question_id": "001-1"} for row in folders.videomme_rows()]
    folders.write_rows(root / FILES["videomme"], rows)
    assert run("videomme", root)[0] == 2
    assert "item id 001-1 comes twice" in capsys.readouterr().err
