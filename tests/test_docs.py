"""Links and code examples of the texts work."""

import doctest
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

import gleanvid
from gleanvid.api import arguments
from gleanvid.models import load_model
from gleanvid.models.generation.sampling import Sampling
from tests.models.oracle import EveryNth
from tests.models.tiny import noise_video

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = ("_build", "generated")  # folders of pages that `make docs` writes
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if not {*MADE} & {*page.parts}]
TEXTS = [
    ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "results/README.md")
]
LINK = re.compile(r"\[[^]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
every_page = pytest.mark.parametrize(
    "page", [*TEXTS, *PAGES], ids=lambda page: str(page.relative_to(ROOT))
)


def python_of(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def test_workflows_of_the_code_host_call_make_targets_alone():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    folder = ROOT / ".github" / "workflows"
    steps = re.findall(r"- run: (.*)", "".join(p.read_text() for p in folder.glob("*.yml")))
    calls = [step for step in steps if not step.startswith("sudo apt-get ")]
    assert len(calls) >= 2 and all(step.removeprefix("make ") in targets for step in calls)


@every_page
def test_every_link_leads_to_a_file(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = [link.partition("#")[0] for link in LINK.findall(text)]
    files = [page.parent / link for link in targets if link and "://" not in link]
    assert not [str(file) for file in files if not {*MADE} & {*file.parts} and not file.exists()]


def test_every_page_is_in_a_table_of_contents():
    listed = {DOCS / "index.md"}
    for page in PAGES:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {page.parent / f"{name}.md" for name in names}
    assert {*PAGES} <= listed
    written = [page for page in listed if not {*MADE} & {*page.parts}]
    assert all(page.exists() or page.with_suffix(".ipynb").exists() for page in written)


def test_examples_of_the_readme_and_of_the_get_started_page_run(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    library, wrapped = python_of(ROOT / "README.md")
    names = {}
    exec(library, names)
    model, video = names["model"], names["video"]
    text = model.chat_text(video, "What moves?", ())
    inputs = model.processor(text=[text], **gleanvid.processor_kwargs(model, video))
    exec(wrapped, {"gleanvid": gleanvid, "hf_model": model.hf_model, "inputs": inputs})
    exec(python_of(DOCS / "get_started.md")[0], {})
    printed = capsys.readouterr().out.splitlines()
    assert "1600 -> 400" in printed
    assert "400" in printed  # visual tokens that the `generate` example keeps


def test_example_model_family_of_the_guide_equals_the_built_in_one(model_folder):
    page = DOCS / "guides" / "add_a_model_family.md"
    (code,) = (part for part in python_of(page) if "class MyVideo" in part)
    names = {"__name__": __name__}
    exec(compile(code, page.name, "exec", dont_inherit=True), names)
    known = load_model(model_folder, device="cpu")
    made = names["MyVideo"]("mine", known.hf_model, known.processor)
    one, other = (model.encode(noise_video(6, 64, 96)) for model in (known, made))
    assert torch.equal(one.tokens.features, other.tokens.features)
    quarter = EveryNth(retention_ratio=0.25)
    answers = [model.generate(one, "what?", quarter, Sampling(6)) for model in (known, made)]
    assert answers[0].text == answers[1].text and answers[1].by_layer[0].num_kept < 18


load_once = cache(gleanvid.load_model)


@pytest.mark.parametrize(
    "name", [name for name in gleanvid.__all__ if callable(getattr(gleanvid, name))]
)
def test_example_of_every_public_docstring_runs(name, monkeypatch):
    """Examples run with the public names, NumPy and torch, in the root of the repository."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(arguments, "load_model", load_once)
    known = {other: getattr(gleanvid, other) for other in gleanvid.__all__}
    known |= {"np": np, "torch": torch, "load_model": load_once}
    finder = doctest.DocTestFinder(recurse=False)
    (example,) = finder.find(getattr(gleanvid, name), name, globs=known)
    assert example.examples, f"{name} has no example"
    assert not doctest.DocTestRunner().run(example).failed
