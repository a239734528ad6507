import pytest

from gleanvid.cli import main
from tests.cli.test_eval_published import Reader
from tests.evaluation.benchmarks.test_published import MAKERS

TWO = ("longvideobench", "videomme")  # benchmarks, the columns of the reproduced table


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data").mkdir()
    for name in TWO:
        MAKERS[name][0](tmp_path / "data" / name)
    return tmp_path / "data"


def test_reproduce_runs_a_table_once_and_prints_it_next_to_the_paper_s_numbers(
    data, tmp_path, monkeypatch, capsys
):
    loaded = []
    monkeypatch.setattr(
        "gleanvid.models.load_model", lambda *words, **_: loaded.append(words) or Reader()
    )
    words = ["reproduce", "--table", "temperature", "--model", "fake", "--data", str(data)]
    words += ["--limit", "2", "--out", str(tmp_path / "out"), "--run"]
    assert main(words) == 0
    assert len(loaded) == len(TWO)
    filed = (tmp_path / "out" / "temperature" / "table.md").read_text()
    assert filed in capsys.readouterr().out
    assert "(paper / ours;" in filed and "questions: 2 of longvideobench" in filed
    assert filed.count(" / ") > 4 * len(TWO)  # the table has four rows of cells "paper / ours"
    assert main(words) == 0
    assert len(loaded) == len(TWO)  # no question was asked again
    (tmp_path / "out" / "temperature" / "videomme" / "command.txt").unlink()
    assert main(words) == 0
    assert len(loaded) == len(TWO) + 1


def test_reproduce_stops_at_a_failing_command_with_that_exit_code(data, tmp_path, capsys):
    words = ["reproduce", "--table", "temperature", "--data", str(tmp_path / "none"), "--run"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "There is no folder" in said and "--benchmark videomme" not in said


def test_reproduce_prints_data_folder_and_estimated_gpu_hours(data, capsys):
    words = ["reproduce", "--table", "1", "--data", str(data), "--", "--num-workers", "4"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    # MVBench, 4,000 questions x 15 rows at 64 frames; measured: 2,700 at 32 frames in 1369.5 s
    assert f"{data / 'mvbench'}; 16.9 GPU hours" in printed
    assert printed.count("--num-workers 4") == 4
    assert "--max-pixels 50331648" in printed


@pytest.mark.parametrize("name", ["0", "19", "table"])
def test_reproduce_refuses_an_unknown_table_by_name(name, capsys):
    assert main(["reproduce", "--table", name]) == 2
    assert f"table='{name}' must be one of 1 to 18" in capsys.readouterr().err
