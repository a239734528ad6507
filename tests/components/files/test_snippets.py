"""The code says the settings that were changed, and is safe to paste."""

from __future__ import annotations

import ast
import json
import shlex
from dataclasses import replace

import pytest

from components.files import snippets
from components.session.request import Request
from gleanvid import COMPRESSORS, GleanVID
from gleanvid.cli import ask, main
from gleanvid.cli.options import sampling

REQUEST = Request(
    "uploads/x.mp4",
    16,
    "builtin",
    lambda: GleanVID(0.1, alpha_min=0.3),
    100,
    {"seed": 0, "temperature": 0.5, "top_p": 1.0, "max_new_tokens": 64},
)
QUESTION = 'What\'s "this"; rm -rf $HOME `x`?'


def test_python_runs_as_written_with_what_was_changed():
    tree = ast.parse(snippets.python(REQUEST, QUESTION, "x.mp4"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert {QUESTION, "x.mp4", 16, 0.1, 0.3, 0.5} <= texts
    names = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
    assert {"alpha_min", "retention_ratio", "temperature", "seed", "max_pixels"} <= names


def test_without_sampling_no_code_speaks_of_it():
    request = replace(REQUEST, sampling=REQUEST.sampling | {"temperature": 0.0})
    assert "seed" not in snippets.python(request, QUESTION, "x.mp4")
    assert "sampling" not in snippets.command(request, QUESTION, "x.mp4")


@pytest.mark.parametrize("name", COMPRESSORS)
@pytest.mark.parametrize("question", [QUESTION, "--help"])
def test_the_command_line_reads_the_same_values_from_the_command(name, question, monkeypatch):
    read = []
    monkeypatch.setattr(ask, "_ask", lambda options: read.append(options) or 0)
    drawn = {"temperature": 0.5, "top_p": 0.9, "seed": 7}
    request = Request("x.mp4", 16, "a/b", COMPRESSORS[name], 100, drawn | {"max_new_tokens": 9})
    words = shlex.split(snippets.command(request, question, "-x.mp4"))
    assert words[0] == "gleanvid" and main(words[1:]) == 0
    (options,) = read
    own = {name: getattr(options, name) for name in options.settings}
    assert options.method(**own) == request.compressor()
    assert (options.video, options.question, options.model) == ("-x.mp4", question, "a/b")
    assert (options.num_frames, options.max_new_tokens) == (16, 9)
    assert options.max_pixels == 100 * 16 and sampling(options) == drawn


def test_the_command_says_the_settings_that_were_changed():
    words = shlex.split(snippets.command(REQUEST, QUESTION, "x.mp4"))
    assert words[words.index("--alpha-min") + 1] == "0.3"


def test_curl_quotes_what_a_shell_would_run():
    text = snippets.curl(REQUEST, QUESTION, "x y.mp4", "http://here")
    line = next(line for line in text.splitlines() if line.strip().startswith("-d"))
    body = shlex.split(line.split(" | ")[0])[1]
    data = json.loads(body.replace("$CLIP", "/up/x.mp4"))["data"]
    assert data[0]["path"] == "/up/x.mp4" and data[1] == QUESTION
    assert data[6] == {"alpha_min": 0.3}
