"""Markdown tables: columns are aligned, and a cell cannot break its row."""

from gleanvid.evaluation.markdown import markdown_table


def test_numbers_stand_to_the_right_of_the_first_column():
    assert markdown_table(["name", "ms"], [["a", "1"]]) == "| name | ms |\n|---|---:|\n| a | 1 |\n"
    assert markdown_table(["name", "of"], [], numbers=False) == "| name | of |\n|---|---|\n"


def test_a_bar_inside_a_cell_is_escaped():
    assert markdown_table(["a"], [["x|y"]]).splitlines()[-1] == "| x\\|y |"
