"""Measuring tools write a CSV file and a table; ``--read`` makes the table from the file."""

import sys

import pytest

from tools.rows_and_table import read_rows, run, standings


def measure(count):
    return [{"clip": clip, "method": "uniform", "value": 0.5} for clip in range(count)]


def document(rows):
    return f"{rows[0]['clips']:.0f} clips, {len(rows)} rows\n"


@pytest.fixture
def tool(monkeypatch, tmp_path):
    """Function that runs a fake tool with command-line options and returns the table it wrote."""

    def call(*options):
        monkeypatch.setattr(sys, "argv", ["tool", "--out", str(tmp_path), *options])
        run("A tool.", "rows.csv", ("clips", 3), measure, document)
        return (tmp_path / "table.md").read_text(encoding="utf-8")

    return call


def test_option_read_uses_the_rows_and_the_number_of_clips_in_the_file(tool, tmp_path):
    assert tool("--clips", "2") == "2 clips, 2 rows\n"
    (tmp_path / "table.md").unlink()
    assert tool("--read") == tool("--read", "--clips", "9") == "2 clips, 2 rows\n"
    assert read_rows(tmp_path / "rows.csv")[1] == {
        "clips": 2.0,
        "clip": 1.0,
        "method": "uniform",
        "value": 0.5,
    }


def test_missing_or_outdated_rows_file_is_refused_with_a_message(tool, tmp_path):
    with pytest.raises(SystemExit, match="run this without --read"):
        tool("--read")
    (tmp_path / "rows.csv").write_text("clip,method\n1,uniform\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="no rows with a column clips"):
        tool("--read")


def test_number_of_clips_below_one_is_refused(tool, tmp_path, capsys):
    with pytest.raises(SystemExit):
        tool("--clips", "0")
    assert "--clips 0: must be at least 1" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_standings_list_methods_that_a_method_is_significantly_ahead_of_or_behind():
    gaps = {("a", "worse"): [0.2] * 20, ("a", "equal"): [0.1, -0.1] * 10, ("b", "x"): [-0.3] * 20}
    assert standings(gaps) == {"a": "ahead of worse; not told apart from equal", "b": "behind x"}
