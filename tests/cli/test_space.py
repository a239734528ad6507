import json

import pytest

from gleanvid.cli import main, space


@pytest.mark.parametrize("title", ["GleanVID", "a: b # c", '"x"\\', "- [y]"])
def test_title_of_a_space_is_quoted_in_its_front_matter(tmp_path, monkeypatch, title):
    monkeypatch.setattr(space.shutil, "copytree", lambda *given, **_: given[1].mkdir(parents=True))
    assert main(["space", "--out", str(tmp_path / "space"), "--title", title]) == 0
    text = (tmp_path / "space" / "README.md").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("title: "))
    assert json.loads(line.removeprefix("title: ")) == title
