import json
import re
import subprocess
from shutil import which

import gradio as gr
import pytest

from components.jobs import examples
from components.jobs.engine import Engine
from components.page.page import build_app
from components.places import ROOT
from components.viewer import modules
from components.viewer.modules import TEXTS
from components.viewer.payload import MAX_METHODS
from tests.components.fake import FakeBackend

FOLDERS = ("page", *modules.FOLDERS)
FILES = sorted(path for name in FOLDERS for path in (ROOT / "assets" / name).glob("*.js"))
TO_HTML = re.compile(  # JavaScript that turns a string into markup or code
    r"innerHTML|outerHTML|insertAdjacentHTML|setHTML|document\.write|srcdoc|DOMParser"
    r"|createContextualFragment|\beval\b|new Function|setAttribute\(\s*[\"']on|javascript:"
)


@pytest.fixture(scope="module")
def page():
    return build_app(Engine(FakeBackend()), examples=examples.examples())


@pytest.fixture(scope="module")
def scripts(page):
    """Return all JavaScript of the page by name; node can parse each text as a program."""
    told = {path.relative_to(ROOT / "assets").as_posix(): path.read_text("utf-8") for path in FILES}
    for block in page.blocks.values():
        if isinstance(block, gr.HTML):
            body = block.js_on_load or ""
            told[f"mount of {block._id}"] = f"(element, props, trigger, watch) => {{ {body} }}"
    for number, event in page.fns.items():
        if isinstance(event.js, str):
            told[f"event {number}"] = f"({event.js})"
    return told


def outputs(page):
    return {id(block) for event in page.fns.values() for block in event.outputs}


PARSE = """
import { readFileSync } from "node:fs";
import { Script, SourceTextModule } from "node:vm";
for (const [name, text, isModule] of JSON.parse(readFileSync(0, "utf-8"))) {
  try {
    isModule ? new SourceTextModule(text) : new Script(text);
  } catch (error) {
    console.log(`${name}: ${error}`);
  }
}
"""


@pytest.mark.skipif(which("node") is None, reason="needs node")
def test_every_script_of_the_page_parses(scripts):
    """One node process parses all scripts, because starting node is slow."""
    others = [[name, text, False] for name, text in scripts.items() if name not in TEXTS]
    texts = [*others, *([name, text, True] for name, text in TEXTS.items())]
    command = ["node", "--experimental-vm-modules", "--input-type=module", "--eval", PARSE]
    found = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, "")


def test_scripts_of_the_page_never_parse_text_as_html_or_code(scripts):
    for name, script in scripts.items():
        assert not (found := TO_HTML.search(script)), f"{name}: {found}"


def test_html_component_with_a_template_is_never_updated_by_an_event(page):
    """Gradio evaluates ``${}`` and ``{{}}`` in a template as code."""
    changing = outputs(page)
    for block in page.blocks.values():
        if isinstance(block, gr.HTML):
            fixed = "${" not in block.html_template and "{{" not in block.html_template
            assert fixed or id(block) not in changing, block.elem_id


def test_only_sanitised_markdown_components_are_outputs_of_events(page):
    shown = [block for event in page.fns.values() for block in event.outputs]
    frames = [block for block in shown if isinstance(block, gr.Dataframe | gr.Markdown)]
    assert all(isinstance(block, gr.Markdown) and block.sanitize_html for block in frames)


def test_maximum_number_of_runs_is_equal_in_python_and_javascript():
    told = (ROOT / "assets/viewer/tried.js").read_text(encoding="utf-8")
    assert f"const MOST = {MAX_METHODS};" in told
