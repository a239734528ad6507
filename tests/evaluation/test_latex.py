"""Tables for papers: escaped, balanced, the best two of every setting marked."""

import re

import pytest

from gleanvid.cli import main
from gleanvid.evaluation.latex import escaped, latex_table
from gleanvid.evaluation.paper.numbers import tables


@pytest.mark.parametrize("sign", r"&%$#_{}~^\\")
def test_special_characters_are_escaped(sign):
    assert escaped(f"a{sign}b") not in (f"a{sign}b", "ab")


def test_best_and_second_of_a_setting_are_marked_and_ties_share():
    rows = [["all", "100%", "80.0"], *(["a", "25%", value] for value in ("3", "2", "3", "–"))]
    rows.append(["e", "15%", "9 ± 1"])
    body = latex_table(["m", "kept", "acc"], rows, ["acc"], setting=[1]).splitlines()
    marked = [line.split(" & ")[2] for line in body if line.count("&") == 2]
    assert marked[1:] == [
        *(r"80.0 \\", r"\textbf{3} \\", r"\underline{2} \\", r"\textbf{3} \\", r"-- \\"),
        r"9 $\pm$ 1 \\",
    ]
    assert body.count(r"\midrule") == 3


@pytest.mark.parametrize("name", tables())
def test_every_table_of_the_paper_is_balanced(name, capsys):
    assert main(["tables", name, "--latex"]) == 0
    text = capsys.readouterr().out
    assert text.count("{") == text.count("}") and text.isascii()
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    (columns,) = re.findall(r"begin{tabular}{(l[r]+)}", text)
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {len(columns) - 1}
