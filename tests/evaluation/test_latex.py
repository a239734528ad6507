import re

import pytest

from gleanvid.cli import main
from gleanvid.evaluation.latex import escaped, latex_table
from gleanvid.evaluation.paper.numbers import tables


@pytest.mark.parametrize("sign", r"&%$#_{}~^\\[")
def test_special_characters_of_latex_are_escaped(sign):
    assert escaped(f"a{sign}b") not in (f"a{sign}b", "ab")


def test_negative_number_in_latex_has_a_minus_sign():
    assert [escaped(text) for text in ("-3.5", "a-3")] == ["$-$3.5", "a-3"]


def test_latex_table_marks_best_and_second_best_per_ratio_with_ties_shared():
    rows = [["all", "100%", "80.0"], *(["a", "25%", value] for value in ("3", "2", "3", "–"))]
    # the row at 15 % comes between rows at 25 %; the table must print it after them
    rows.insert(3, ["e", "15%", "9 ± 1"])
    body = latex_table(["m", "kept", "acc"], rows, ["acc"], setting=[1]).splitlines()
    marked = [line.split(" & ")[2] for line in body if line.count("&") == 2]
    assert marked[1:] == [
        *(r"80.0 \\", r"\textbf{3} \\", r"\underline{2} \\", r"\textbf{3} \\", r"-- \\"),
        r"9 $\pm$ 1 \\",
    ]
    assert body.count(r"\midrule") == 3


@pytest.mark.parametrize("name", tables())
def test_latex_of_every_paper_table_has_balanced_braces_and_equally_long_rows(name, capsys):
    assert main(["tables", name, "--latex"]) == 0
    text = capsys.readouterr().out
    assert text.count("{") == text.count("}") and text.isascii()
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    # LaTeX reads [ after a line break as its optional argument
    assert not any(line.startswith("[") for line in lines)
    (columns,) = re.findall(r"begin{tabular}{(l[r]+)}", text)
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {len(columns) - 1}
