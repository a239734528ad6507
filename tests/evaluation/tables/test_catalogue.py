"""The README's tables are the catalogue's."""

from pathlib import Path

import pytest

from gleanvid.evaluation.tables.catalogue import compressor_table, model_table

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.parametrize(
    ("name", "table"), [("compressors", compressor_table), ("models", model_table)]
)
def test_the_readme_table_is_current(name, table):
    text = README.read_text(encoding="utf-8")
    shown = text.split(f"<!-- {name}: begin -->")[1].split(f"<!-- {name}: end -->")[0]
    assert shown.strip() == table()
