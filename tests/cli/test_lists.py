import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gleanvid.cli import lists, main
from gleanvid.evaluation.catalogue import methods_table, model_table

TABLES = {"methods": methods_table, "models": model_table}
WIDTHS = (80, 132)


@pytest.fixture
def terminal(monkeypatch):
    """Return a function that simulates a terminal of a given width."""

    def make(width):
        size = os.terminal_size((width, 24))
        monkeypatch.setattr(lists.shutil, "get_terminal_size", lambda: size)
        monkeypatch.setattr(lists.sys.stdout, "isatty", lambda: True)

    return make


@pytest.mark.parametrize("program", ["gleanvid methods", "app"])
def test_program_writing_to_a_closed_pipe_ends_without_a_message(program):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", *program.split()]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, cwd=root, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


@pytest.mark.parametrize("command", TABLES)
@pytest.mark.parametrize("width", WIDTHS)
def test_printed_list_fits_the_terminal_and_contains_every_cell(command, width, terminal, capsys):
    terminal(width)
    assert main([command]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= width
    words = " ".join(shown.split())
    rows = [line for line in TABLES[command]().splitlines() if line.startswith("| `")]
    for cell in {cell for row in rows for cell in lists._cells(row)}:
        assert cell.strip("`") in words


@pytest.mark.parametrize("command", TABLES)
def test_list_is_markdown_if_piped_or_asked_for_by_option(command, terminal, capsys):
    assert main([command]) == 0
    assert capsys.readouterr().out.strip() == TABLES[command]()
    terminal(80)
    assert main([command, "--markdown"]) == 0
    assert capsys.readouterr().out.strip() == TABLES[command]()
