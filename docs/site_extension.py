"""Sphinx extension: formulas as MathML, commands run by the build, a check for offline use."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path

import execution
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from gleanvid import cli

ROOT = Path(__file__).parents[1]
FOLDER = tempfile.TemporaryDirectory(prefix="docs-")  # not gleanvid-*: apps delete such folders
SCRATCH = Path(FOLDER.name)  # commands of all pages run here
(SCRATCH / "assets").symlink_to(ROOT / "assets")
(SCRATCH / "most_changed.py").symlink_to(ROOT / "docs" / "guides" / "most_changed.py")
ACCENTED = re.compile(
    r"<munderover>\s*(<mi>\w</mi>)(.*?)(<mo[^>]*>[ˆˉ]</mo>)\s*</munderover>", re.DOTALL
)
OUTSIDE = re.compile(
    r"<(?:script|img|iframe)[^>]+src=\"(?:https?:)?//|<link[^>]+href=\"(?:https?:)?//"
)


class Command(SphinxDirective):
    """Directive: shell commands, shown with their output; a command that fails ends the build."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        script = "\n".join(self.content)
        shown = [nodes.literal_block(script, script, language="bash")]
        with chdir(SCRATCH):
            output = "".join(map(output_of, script.replace("\\\n", " ").splitlines())).rstrip()
        if output:
            shown.append(nodes.literal_block(output, output, language="text", classes=["output"]))
        return shown


def output_of(line: str) -> str:
    """Run a command; return its output. ``gleanvid`` runs in this process: torch is loaded."""
    if not line.startswith("gleanvid "):
        return subprocess.run(
            ["bash", "-c", line], capture_output=True, text=True, check=True
        ).stdout
    with redirect_stdout(io.StringIO()) as text, execution.own_plugins():
        if code := cli.main(shlex.split(line)[1:]):
            raise ExtensionError(f"exit code {code}: {line}")
    return text.getvalue()


def mathml(formula: str, as_block: bool = False) -> str:
    """Return MathML; docutils would put the index of an accented letter below it, not after it."""
    text = tex2mathml(formula, as_block=as_block)
    return ACCENTED.sub(r"<msub><mover>\1\3</mover>\2</msub>", text)


def inline_formula(translator: nodes.NodeVisitor, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def formula(translator: nodes.NodeVisitor, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def check_offline(app: Sphinx, error: Exception | None) -> None:
    """Fail if a page would load a script, style or image from another server."""
    if error or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        if found := OUTSIDE.search(page.read_text(encoding="utf-8")):
            raise ExtensionError(f"{page.name} loads from another server: {found[0]}")


def setup(app: Sphinx) -> dict[str, bool]:
    from reference_pages import write_reference

    execution.setup()
    app.add_directive("command", Command)
    app.add_html_math_renderer("mathml", (inline_formula, None), (formula, None))
    app.config.html_math_renderer = "mathml"
    app.connect("builder-inited", lambda app: write_reference(Path(app.srcdir)))
    app.connect("build-finished", check_offline)
    return {"parallel_read_safe": False}
