"""Documented ``gleanvid`` commands parse; together they run all rows of the paper's tables."""

import json
import re
import shutil
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from gleanvid.cli import parse
from gleanvid.evaluation.lmms_eval.requests import named_compressor
from gleanvid.evaluation.run.setups import Setup

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
    shutil.copy(ROOT / "docs" / "guides" / "most_changed.py", tmp_path)
    for words in found:
        assert callable(parse(words).run), words


def value(text):
    """Return a value of ``--model_args`` as LMMs-Eval passes it on."""
    with suppress(ValueError):
        return json.loads(text)
    return text


def test_documented_lmms_eval_commands_run_every_row_of_the_paper_s_tables():
    rows = set()
    for words in commands("docs/guides/evaluate.md"):
        if words[0] != "lmms-eval":
            continue
        text = words[words.index("--model_args") + 1]
        args = {name: value(said) for name, _, said in (p.partition("=") for p in text.split(","))}
        model, frames = args.pop("pretrained"), args.pop("num_frames", 32)
        args.pop("max_pixels", None)
        rows.add((model, Setup(named_compressor(args.pop("compressor"), args), frames).key))
    # Qwen3-VL with 64 and 32 frames, LLaVA-OneVision, LLaVA-Video, OneVision's FlashVID,
    # ablations, sensitivity, fixed budget
    assert len(rows) == 2 * 15 + 10 + 8 + 1 + 9 + 15 + 5
