import csv
import json

import pytest
import torch

from gleanvid.attribution.relevance import Relevance
from gleanvid.cli import main
from gleanvid.evaluation import benchmarks
from gleanvid.evaluation.run import runner
from tests.evaluation.fakes import FakeBenchmark, FakeModel


@pytest.fixture
def model(monkeypatch):
    held = [FakeModel()]
    monkeypatch.setattr("gleanvid.models.load_model", lambda *_, **__: held[0])
    monkeypatch.setitem(benchmarks.BENCHMARKS, "fake", FakeBenchmark)
    return held


@pytest.fixture
def figures():
    """The test looks at the saved figures."""


@pytest.fixture(autouse=True)
def _unsaved(request, monkeypatch):
    """Draw figures without saving them, as saving takes most of a run's time."""
    if "figures" not in request.fixturenames:
        monkeypatch.setattr("gleanvid.evaluation.tables.publish._save", lambda *_: None)


def run(folder, *options, compressor=("--compressor", "uniform,gleanvid")):
    given = ["eval", "--benchmark", "fake", *compressor, "--num-frames", "6", *options]
    return main([*given, "--out", str(folder)])


def test_eval_writes_tables_plots_and_its_command_line(model, figures, tmp_path, capsys):
    assert run(tmp_path, "--retention-ratio", "1,0.5,0.1") == 0
    told = capsys.readouterr()
    assert "| All tokens |" in told.out and told.err == f"results in {tmp_path}\n"
    with (tmp_path / "results.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["setup"] for line in lines] == [
        "full(retention_ratio=1.0)@6",
        "uniform(retention_ratio=0.5)@6",
        "uniform(retention_ratio=0.1)@6",
        "gleanvid(retention_ratio=0.5)@6",
        "gleanvid(retention_ratio=0.1)@6",
    ]
    whole = json.loads((tmp_path / "results.json").read_text())
    assert whole["processor"] == {"class": "", "size": {}} and whole["model"] == "fake"
    assert whole["machine"]["device"] and whole["machine"]["threads"] >= 1
    assert whole["command"].startswith("gleanvid eval --benchmark fake --compressor uniform")
    assert (tmp_path / "accuracy.png").exists()
    for name in ("results.json", "table.md"):
        assert str(tmp_path) not in (tmp_path / name).read_text()


def test_eval_interrupted_by_ctrl_c_keeps_answers_and_writes_no_tables(model, tmp_path, capsys):
    class Stops(FakeModel):
        def encode(self, video, needs=frozenset(), max_pixels=None):
            if video.name == "clip 3":
                raise KeyboardInterrupt
            return super().encode(video, needs, max_pixels)

    model[0] = Stops()
    assert run(tmp_path) == 130
    assert [path.name for path in tmp_path.iterdir()] == ["journal.jsonl"]
    model[0] = FakeModel()
    assert run(tmp_path) == 0
    assert {clip for clip, _, _ in model[0].asked} == {"clip 3", "clip 4"}


def test_eval_with_failed_questions_reports_them_and_exits_nonzero(model, tmp_path, capsys):
    assert run(tmp_path, "--broken", "clip 2") == 1
    told = capsys.readouterr().err
    assert "4 of 20 questions failed, the first with VideoError: clip 2 has no video track" in told
    assert "20/20" not in told and (tmp_path / "table.md").exists()


def test_eval_refuses_a_folder_with_answers_of_another_model_or_seed(model, tmp_path, capsys):
    run(tmp_path)
    model[0] = FakeModel(weight=1.5)
    assert run(tmp_path) == 2
    assert "was made with model_weights=" in capsys.readouterr().err
    assert run(tmp_path, "--seed", "1") == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--compressor", "glean"), "compressor='glean' must be one of full, gleanvid"),
        (("--retention-ratio", "0.5,2"), "retention_ratio=2.0 must be in (0, 1]"),
        (("--retention-ratio", "half"), "retention_ratio='half' must be numbers in (0, 1]"),
        (("--how", "letter"), "how='letter' must be one of likelihood, text"),
        (("--reference", "uniform"), "reference='uniform' must be one of gleanvid"),
        (("--limit", "0"), "limit=0 must be at least 1"),
        (("--num-frames", "0"), "num_frames=0 must be at least 1"),
    ],
)
def test_invalid_eval_options_are_refused_before_the_model_is_loaded(
    model, tmp_path, capsys, monkeypatch, options, told
):
    monkeypatch.setattr("gleanvid.models.load_model", lambda *_, **__: pytest.fail("loaded"))
    assert run(tmp_path, *options, compressor=()) == 2
    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_unknown_benchmark_is_refused_with_the_list_of_known_benchmarks(tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["eval", "--benchmark", "glimps", "--out", str(tmp_path)])
    assert stopped.value.code == 2
    assert "benchmark='glimps' must be one of glimpse, list" in capsys.readouterr().err


def test_eval_measures_relevance_once_per_question_and_stores_it(
    model, figures, tmp_path, monkeypatch, capsys
):
    asked = []

    def measured(model, encoded, question, answer):
        asked.append(question)
        count = len(encoded.tokens)
        values = torch.arange(count) + 1.0
        grid = encoded.tokens.grid
        return Relevance(values / values.sum(), grid, question, answer, -1.0, "gradient", 0.0)

    monkeypatch.setattr(runner, "measure", measured)
    assert run(tmp_path, "--retention-ratio", "1,0.5", "--relevance", "--limit", "5") == 0
    assert len(asked) == 5
    table = capsys.readouterr().out
    assert "| relevance kept (%) |" in table and "not of truth" in table
    assert (tmp_path / "relevance.png").exists()
    full, *others = json.loads((tmp_path / "results.json").read_text())["results"]
    assert full["relevance_kept"] == full["relevance_best"] == 1
    for line in others:
        assert 0 < line["relevance_kept"] <= line["relevance_best"] < 1
        assert line["relevance_random"] == pytest.approx(0.5, abs=0.02)
    assert run(tmp_path, "--retention-ratio", "1,0.5", "--relevance", "--limit", "5") == 0
    assert len(asked) == 5
    assert run(tmp_path, "--retention-ratio", "1,0.5", "--limit", "5") == 2
    assert "relevance='gradient'" in capsys.readouterr().err
