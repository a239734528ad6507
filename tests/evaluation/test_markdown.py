from gleanvid.evaluation.markdown import markdown_table


def test_markdown_table_right_aligns_all_columns_but_the_first():
    assert markdown_table(["name", "ms"], [["a", "1"]]) == "| name | ms |\n|---|---:|\n| a | 1 |\n"
    assert markdown_table(["name", "of"], [], numbers=False) == "| name | of |\n|---|---|\n"


def test_vertical_bar_inside_a_markdown_cell_is_escaped():
    assert markdown_table(["a"], [["x|y"]]).splitlines()[-1] == "| x\\|y |"
