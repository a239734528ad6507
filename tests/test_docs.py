import re
from pathlib import Path

import pytest

import gleanvid

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = ("_build", "generated")  # folders of pages that `make docs` writes
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if not {*MADE} & {*page.parts}]
TEXTS = [
    ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "results/README.md")
]
README = TEXTS[0].read_text(encoding="utf-8")
LINK = re.compile(r"\[[^]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)


def named(path):
    return str(path.relative_to(ROOT))


def test_readme_has_at_most_130_lines():
    assert len(README.splitlines()) <= 130


def test_animation_of_the_readme_has_less_than_2_mb():
    assert (ROOT / "assets" / "slider.webp").stat().st_size < 2e6


def test_examples_of_the_readme_and_of_the_get_started_page_run(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    library, wrapped = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names = {}
    exec(library, names)
    model, video = names["model"], names["video"]
    content = [{"type": "video"}, {"type": "text", "text": "What moves?"}]
    text = model.processor.apply_chat_template([{"role": "user", "content": content}])
    given = {"videos": [video.frames], "do_sample_frames": False, "return_tensors": "pt"}
    inputs = model.processor(text=[text], **given)
    exec(wrapped, {"gleanvid": gleanvid, "hf_model": model.hf_model, "inputs": inputs})
    first = (DOCS / "get_started.md").read_text(encoding="utf-8")
    exec(re.search(r"```python\n(.*?)```", first, re.DOTALL)[1], {})
    printed = capsys.readouterr().out.splitlines()
    assert "1600 -> 400" in printed
    assert "400" in printed  # visual tokens that the `generate` example keeps


@pytest.mark.parametrize("name", gleanvid.__all__)
def test_api_page_has_every_public_name(name):
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    assert re.search(rf"gleanvid\.{name}\b", page)


def test_every_documentation_page_is_in_a_table_of_contents():
    listed = {DOCS / "index.md"}
    for page in PAGES:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {page.parent / f"{name}.md" for name in names}
    assert not [named(page) for page in PAGES if page not in listed]
    assert not [named(page) for page in listed if not page.exists() and not {*MADE} & {*page.parts}]


@pytest.mark.parametrize("page", [*TEXTS, *PAGES], ids=named)
def test_every_link_of_a_documentation_page_leads_to_a_file(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = [link.partition("#")[0] for link in LINK.findall(text)]
    files = [page.parent / link for link in targets if link and "://" not in link]
    assert not [str(file) for file in files if not {*MADE} & {*file.parts} and not file.exists()]
