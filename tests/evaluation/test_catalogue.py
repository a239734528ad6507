"""The README's table of compressors is the catalogue's."""

from pathlib import Path

from gleanvid.evaluation.catalogue import compressor_table

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_table_is_current():
    text = README.read_text(encoding="utf-8")
    shown = text.split("<!-- compressors: begin -->")[1].split("<!-- compressors: end -->")[0]
    assert shown.strip() == compressor_table()
