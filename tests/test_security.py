from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_files_and_tests_named_in_the_list_of_threats_exist():
    text = (ROOT / "SECURITY.md").read_text("utf-8").partition("## THREATS")[2]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 15
    for *_, held_by, test in rows:
        files, tests = (re.findall(r"`([^`]+)`", cell) for cell in (held_by, test))
        assert files and tests and all(name.startswith("tests/") for name in tests)
        assert [name for name in [*files, *tests] if not (ROOT / name).is_file()] == []
