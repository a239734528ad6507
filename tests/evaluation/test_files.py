import csv
import io

import pytest

from gleanvid.evaluation.files import csv_text


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_csv_text_that_looks_like_a_spreadsheet_formula_is_escaped(text):
    rows = [{text: text, "gain": -2.5, "none": None}]
    read = list(csv.reader(io.StringIO(csv_text([text, "gain", "none"], rows), newline="")))
    text = text.replace("\r", "\n")
    assert read == [[f"'{text}", "gain", "none"], [f"'{text}", "-2.5", ""]]


def test_csv_text_has_no_character_that_hides_or_reorders_text():
    text = csv_text(["clip"], [{"clip": "a\u202e4pm\x1b[2J\x00\x9b.mp4"}])
    assert text == "clip\na4pm[2J.mp4\n"
