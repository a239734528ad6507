"""Tables fit the width of the terminal, and are Markdown when piped."""

import os

import pytest

from gleanvid.cli import lists, main
from gleanvid.evaluation.catalogue import methods_table, model_table
from gleanvid.evaluation.markdown import markdown_table

TABLES = {"methods": methods_table, "models": model_table}
WIDTHS = (80, 132)


@pytest.fixture
def terminal(monkeypatch):
    """Pretend to be a terminal with this many columns."""

    def make(width):
        size = os.terminal_size((width, 24))
        monkeypatch.setattr(lists.shutil, "get_terminal_size", lambda: size)
        monkeypatch.setattr(lists.sys.stdout, "isatty", lambda: True)

    return make


@pytest.mark.parametrize("command", TABLES)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal_and_no_cell_is_lost(command, width, terminal, capsys):
    terminal(width)
    assert main([command]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= width
    words = " ".join(shown.split())
    rows = [line for line in TABLES[command]().splitlines() if line.startswith("| `")]
    for cell in {cell for row in rows for cell in lists._cells(row)}:
        assert cell.strip("`") in words


@pytest.mark.parametrize("command", TABLES)
def test_pipes_and_markdown_option_get_markdown(command, terminal, capsys):
    assert main([command]) == 0
    assert capsys.readouterr().out.strip() == TABLES[command]()
    terminal(80)
    assert main([command, "--markdown"]) == 0
    assert capsys.readouterr().out.strip() == TABLES[command]()


def test_a_table_that_fits_stays_a_table(terminal, capsys):
    terminal(80)
    table = markdown_table(["a", "b"], [["1", "2|3"]])
    lists.show(table, unchanged=False)
    assert capsys.readouterr().out.strip() == table.strip()
    assert lists.fitted(table, 80) == "1\n  b: 2|3"
