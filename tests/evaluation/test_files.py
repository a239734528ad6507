from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

import components
import gleanvid
from gleanvid.evaluation.files import csv_text, write_whole


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_csv_text_that_looks_like_a_spreadsheet_formula_is_escaped(text):
    rows = [{text: text, "gain": -2.5, "none": None}]
    read = list(csv.reader(io.StringIO(csv_text([text, "gain", "none"], rows), newline="")))
    text = text.replace("\r", "\n")
    assert read == [[f"'{text}", "gain", "none"], [f"'{text}", "-2.5", ""]]


def test_writing_a_file_never_overwrites_the_target_of_a_link_in_its_folder(tmp_path):
    (tmp_path / "private").write_text("private")
    (tmp_path / "a.csv.part").symlink_to(tmp_path / "private")
    write_whole(tmp_path / "a.csv", "new")
    assert (tmp_path / "private").read_text() == "private"
    assert (tmp_path / "a.csv").read_text() == "new" and not (tmp_path / "a.csv").is_symlink()


def test_one_function_writes_every_table():
    """A second writer could forget to escape formulas."""
    folders = [Path(module.__file__).parent for module in (gleanvid, components)]
    files = [file for folder in folders for file in folder.rglob("*.py")]
    writing = {file.name for file in files if re.search(r"csv\.(w|DictW)riter", file.read_text())}
    assert writing == {"files.py"}
