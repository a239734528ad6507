"""Documented ``gleanvid`` commands parse; together they run all rows of the paper's tables."""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from gleanvid.cli import main, parse
from gleanvid.cli.eval import _benchmark
from gleanvid.cli.eval_setups import setups_of
from gleanvid.evaluation.paper.numbers import BENCHMARKS, tables
from gleanvid.evaluation.paper.reproduce import steps

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
    """Return each ``gleanvid`` command in a page's code blocks, split into words by bash."""
    bash = shutil.which("bash") or pytest.skip("bash is not installed")
    blocks = re.findall(
        r"```(?:bash|\{command\})\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL
    )
    script = [bash, "-c", SHELL + "\n".join(blocks)]
    # in an empty folder, because bash would run programs given by a relative path
    with TemporaryDirectory() as nowhere:
        done = subprocess.run(script, cwd=nowhere, capture_output=True, text=True, check=False)
    return [line.split("\x1f")[:-1] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_in_the_documentation_parses(page, tmp_path, monkeypatch, own_plugins):
    written = (ROOT / page).read_text("utf-8")
    found = commands(page)
    assert len(found) >= len(re.findall(r"^ *gleanvid ", written, re.MULTILINE))
    monkeypatch.chdir(tmp_path)
    for words in found:
        assert callable(parse(words).run), words
        # `gleanvid new` is run, because later commands need the file that it writes
        if words[0] == "new":
            assert main(words) == 0


def test_every_command_in_results_gpu_sh_parses(tmp_path):
    """The script runs with a fake Python that records its arguments; each command must parse."""
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


@pytest.mark.parametrize("name", tables())
def test_documented_commands_fill_every_row_of_the_paper_s_tables(name):
    table, asked = tables()[name], set()
    rows = {row.setup for row in (table.full, *table.rows)}
    for step in steps(table, Path("out")):
        options = parse(step.words)
        assert options.out == str(step.folder)
        assert options.phases == ("prefill_s" in table.columns)
        asked.add(options.benchmark)
        assert rows <= {setup.key for setup in setups_of(options, _benchmark(options))[1]}
    assert asked == set(table.columns) & set(BENCHMARKS)
