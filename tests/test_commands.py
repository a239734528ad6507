"""Every ``gleanvid`` command in the documents is one, and together they fill the paper's tables."""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from gleanvid.cli import main, parse
from gleanvid.cli.eval import _benchmark, _setups
from gleanvid.evaluation.paper.numbers import BENCHMARKS, tables

ROOT = Path(__file__).parents[1]
GUIDES = [
    str(page.relative_to(ROOT))
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if "gleanvid " in page.read_text("utf-8") and not {"_build", "generated"} & {*page.parts}
]
PAGES = ("README.md", "CONTRIBUTING.md", "results/README.md", *GUIDES)
SHELL = "PATH=; command_not_found_handle() { :; }; gleanvid() { printf '%s\\037' \"$@\"; echo; }\n"


@cache
def commands(page):
    """Words of every command, as bash takes the blocks of a page apart; nothing is run."""
    bash = shutil.which("bash") or pytest.skip("bash is not installed")
    blocks = re.findall(
        r"```(?:bash|\{command\})\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL
    )
    script = [bash, "-c", SHELL + "\n".join(blocks)]
    with TemporaryDirectory() as nowhere:  # bash would run a program named by a relative path
        done = subprocess.run(script, cwd=nowhere, capture_output=True, text=True, check=False)
    return [line.split("\x1f")[:-1] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_is_understood(page, tmp_path, monkeypatch, own_plugins):
    written = (ROOT / page).read_text("utf-8")
    found = commands(page)
    assert len(found) >= len(re.findall(r"^ *gleanvid ", written, re.MULTILINE))
    monkeypatch.chdir(tmp_path)
    for words in found:
        assert callable(parse(words).run), words
        if words[0] == "new":  # later commands name the file that it writes
            assert main(words) == 0


def test_the_script_for_a_gpu_knows_the_commands(tmp_path):
    """Run with a Python that only notes what it was asked: every command is understood."""
    for folder in ("results", "bin"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / "results" / "gpu.sh", tmp_path / "results")
    noted = tmp_path / "noted"
    python = tmp_path / "bin" / "python"
    python.write_text(f"#!/bin/sh\nprintf '%s\\037' \"$@\" >> {noted}\necho >> {noted}\n")
    python.chmod(0o755)
    bash = shutil.which("bash") or pytest.skip("bash is not installed")
    script = [bash, str(tmp_path / "results" / "gpu.sh"), "a-gpu", "some/checkpoint"]
    subprocess.run(script, env={"PATH": "/usr/bin:/bin", "BIN": str(python.parent)}, check=True)
    asked = [line.split("\x1f")[:-1] for line in noted.read_text().splitlines()]
    ours = [words[2:] for words in asked if words[:2] == ["-m", "gleanvid.cli"]]
    assert len(ours) >= 10
    for words in ours:
        assert callable(parse(words).run), words


@cache
def evaluated():
    """(model, benchmark) -> setups that the commands of the results page evaluate."""
    known = {}
    for words in commands("results/README.md"):
        if words[0] == "eval":
            options = parse(words)
            _, setups = _setups(options, _benchmark(options))
            name = Path(options.model).name
            known.setdefault((name, options.benchmark), set()).update(s.key for s in setups)
    return known


@pytest.mark.parametrize("name", tables())
def test_the_commands_fill_every_row_of_the_paper_s_tables(name):
    table = tables()[name]
    for benchmark in set(table.columns) & set(BENCHMARKS):
        setups = next(
            evaluated()[m, benchmark] for m in table.models if (m, benchmark) in evaluated()
        )
        assert {row.setup for row in (table.full, *table.rows)} <= setups, benchmark


def test_the_commands_print_every_table():
    printed = [
        parse(words).names for words in commands("results/README.md") if words[0] == "tables"
    ]
    assert sorted(name for names in printed for name in names) == sorted(tables())
