"""Pages of the reference that are made from the code: compressors, command line, endpoints."""

from __future__ import annotations

import ast
import inspect
import io
import os
import re
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import gleanvid
from gleanvid import cli
from gleanvid.compressors import COMPRESSORS, Compressor, declared_settings, method_from
from gleanvid.compressors.shared.records import whole_record
from gleanvid.evaluation.catalogue import Facts, methods
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.recording.run_format import ARRAYS
from gleanvid.plots import overlay_frame

ROOT = Path(__file__).parents[1]
CLIP, RATIOS = ROOT / "assets/clips/glimpse_1.mp4", (0.25, 0.5)
QUESTION = "Which object flashes briefly?"
# frames sampled, units shown and pixel width of a compressor's strip
FRAMES, UNITS, WIDTH = (16, (0, 2, 4, 6), 208)
ENDPOINTS = ROOT / "components" / "server" / "endpoints.py"


def write_reference(docs: Path) -> None:
    """Write the pages into ``reference/generated``; a page that did not change keeps its time."""
    folder = docs / "reference" / "generated"
    (folder / "compressors").mkdir(parents=True, exist_ok=True)
    pages = {"command_line": command_line(), "endpoints": endpoints(), "saved_run": saved_run()}
    masks = folder / "compressors"
    if not any(masks.glob("*.webp")):
        draw_masks(masks)
    pages |= {f"compressors/{facts.name}": compressor_page(facts, masks) for facts in methods()}
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def saved_run() -> str:
    """Return a Markdown table of the arrays of a saved run."""
    rows = [
        (
            f"`{name}`",
            types,
            " or ".join(f"`[{shape.replace(' ', ', ')}]`" for shape in shapes),
            text,
        )
        for name, (types, shapes, text) in ARRAYS.items()
    ]
    return markdown_table(["array", "type", "shape", "meaning"], rows, numbers=False) + "\n"


def compressor_page(facts: Facts, folder: Path) -> str:
    """Return Markdown on a method: idea, properties, settings, mask on an example clip."""
    method = COMPRESSORS[facts.name]
    idea, _, source = inspect.getdoc(inspect.getmodule(method)).partition("\n\n")
    idea = idea.partition(": ")[2] or idea
    behaviour = re.split(r"\n\n(?:>>>|Args:)", inspect.getdoc(method))[0]
    rows = [
        ("Acts", facts.acts),
        ("Needs", facts.needs),
        ("Does", facts.deed),
        ("Meets its token budget", facts.budget),
        ("Works with vLLM", facts.vllm),
        ("Licence of the authors' code", facts.licence),
        ("Source", facts.paper),
        ("Results reported by its authors, not measured here", facts.reported or "nothing"),
        ("Not ported", facts.not_ported or "nothing is missing"),
    ]
    parts = [f"# {facts.title}", f"`{facts.name}`: {idea}", source, behaviour]
    parts = [rst_to_markdown(part) for part in parts if part]
    parts += [mask(facts, folder), markdown_table(["", ""], rows, numbers=False)]
    return "\n\n".join([*parts, "## Settings", settings_table(method)]) + "\n"


def mask(facts: Facts, folder: Path) -> str:
    """Return Markdown: a method's image from :func:`draw_masks`, with a caption."""
    for ratio in (1.0, *RATIOS):
        file = masks_file(facts.name, ratio)
        if (folder / file).exists():
            return (
                f"![Frames with the tokens that {facts.title} keeps]({file})\n\n"
                f"{FRAMES} frames of the clip `glimpse_1.mp4`, which are {FRAMES // 2} temporal "
                f"units, with {ratio:.0%} of their tokens kept on average. Four of the units are "
                "shown, as the last layers see them. Dark tokens are dropped, or merged into "
                "others."
            )
    return "There is no mask: the method does not reach a ratio of 50 % on the built-in model."


def masks_file(name: str, ratio: float) -> str:
    return f"{name}_{100 * ratio:.0f}.webp"


def settings_table(method: type[Compressor]) -> str:
    rows = [
        (f"`{name}`", f"`{default!r}`", declared.describe_range(kind), declared.help)
        for name, (default, kind, declared) in declared_settings(method).items()
    ]
    return markdown_table(["setting", "default", "values", "meaning"], rows, numbers=False)


def rst_to_markdown(text: str) -> str:
    """Convert a docstring's double backquotes and Sphinx roles to Markdown code."""
    text = re.sub(r":\w+:`~?([^`]+)`", lambda role: f"`{role[1].rpartition('.')[2]}`", text)
    return text.replace("``", "`")


def draw_masks(folder: Path) -> None:
    """Draw a strip of frames for every method, at the lowest of ``RATIOS`` that it reaches."""
    left = dict(COMPRESSORS)
    for ratio in RATIOS:
        methods = [method_from(name, ratio) for name in left]
        for run in gleanvid.compare(CLIP, QUESTION, "builtin", methods, 1, num_frames=FRAMES):
            if isinstance(run, gleanvid.Run):
                name, kept = run.compressor["name"], run.compressor["retention_ratio"]
                draw_mask(run).save(folder / masks_file(name, kept), quality=80)
                del left[name]


def draw_mask(run: gleanvid.Run) -> Image.Image:
    whole = replace(run, by_layer={0: whole_record(run.by_layer)})
    frames = [Image.fromarray(overlay_frame(whole, unit)) for unit in UNITS]
    return Image.fromarray(
        np.hstack([np.asarray(frame.resize((WIDTH, WIDTH))) for frame in frames])
    )


def command_line() -> str:
    """Return Markdown with the ``--help`` of every command."""
    parts = [
        "# Command line",
        "Every command with its options, as `gleanvid COMMAND --help` prints them. The settings of "
        "a compressor are options of `ask`, `compress` and `relevance`. This page lists "
        "those of GleanVID; `gleanvid ask --compressor vidcom2 --help` lists those of VidCom2, and "
        "likewise for every other method.",
    ]
    for words in commands():
        parts += [f"## gleanvid {' '.join(words)}", f"```text\n{help_of(words)}\n```"]
    return "\n\n".join(parts) + "\n"


def commands() -> Iterator[list[str]]:
    """Yield the words of every command, subcommands after their command."""
    for name in cli.COMMANDS:
        yield [name]
        for inner in re.findall(r"\n  (?:what|command)\n(.*?)\n\n", help_of([name]), re.DOTALL):
            yield from ([name, word] for word in re.findall(r"^    (\w+)", inner, re.MULTILINE))


def help_of(words: list[str]) -> str:
    os.environ["COLUMNS"] = "96"
    with redirect_stdout(io.StringIO()) as text, suppress(SystemExit):
        cli.parse([*words, "--help"])
    return text.getvalue().rstrip()


def endpoints() -> str:
    """Return Markdown on the endpoints of the app, from their docstrings."""
    tree = ast.parse(ENDPOINTS.read_text(encoding="utf-8"))
    calls = next(
        item for item in tree.body if isinstance(item, ast.ClassDef) and item.name == "Calls"
    )
    functions = [
        item
        for item in calls.body
        if isinstance(item, ast.FunctionDef) and not item.name.startswith("_")
    ]
    head = (
        "# Endpoints of the app\n\nA running app answers these calls of "
        "[gradio_client](../../guides/call_the_app.md), `curl` and, with `--mcp`, MCP clients."
    )
    return "\n\n".join([head, *map(endpoint, functions)]) + "\n"


def endpoint(function: ast.FunctionDef) -> str:
    text, _, rest = (ast.get_docstring(function) or "").partition("\n\nArgs:\n")
    arguments, _, returns = rest.partition("\n\nReturns:\n")
    meanings = dict(described(arguments))
    names = function.args.args[1:]
    blanks: list[Any] = [None] * (len(names) - len(function.args.defaults))
    rows = [
        (
            f"`{name.arg}`",
            f"`{ast.unparse(name.annotation)}`",
            "required" if default is None else f"`{ast.unparse(default)}`",
            meanings[name.arg],
        )
        for name, default in zip(names, [*blanks, *function.args.defaults], strict=True)
    ]
    table = markdown_table(["argument", "type", "default", "meaning"], rows, numbers=False)
    answer = " ".join(returns.split())
    return f"## /{function.name}\n\n{text}\n\n{table}\n**Returns** {answer}"


def described(arguments: str) -> Iterator[tuple[str, str]]:
    """Yield the (name, meaning) pairs of the ``Args`` section of a docstring."""
    lines: list[str] = []
    for line in arguments.splitlines():
        if line.startswith("     "):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line.strip())
    for line in lines:
        name, _, meaning = line.partition(": ")
        yield name, meaning
