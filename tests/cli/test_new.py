"""``gleanvid new compressor`` refuses names that would hide a compressor or a package."""

import pytest

from gleanvid.cli import main


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("gleanvid", "the name of another compressor"), ("torch", "the name of a Python package")],
)
def test_name_that_would_hide_a_compressor_or_a_package_is_refused(
    name, sentence, tmp_path, capsys
):
    assert main(["new", "compressor", name, "--out", str(tmp_path)]) == 2
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
