"""The code says the settings that were changed, and is safe to paste."""

from __future__ import annotations

import ast
import json
import shlex

from components import snippets
from components.actions import Request
from gleanvid import GleanVID

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
    assert {"alpha_min", "retention_ratio", "temperature", "max_pixels"} <= names
    assert "seed" not in names


def test_the_command_is_one_that_the_command_line_takes():
    words = shlex.split(snippets.command(REQUEST, QUESTION, "x.mp4"))
    assert words[:4] == ["gleanvid", "ask", "x.mp4", QUESTION]
    pairs = dict(zip(words[4::2], words[5::2], strict=True))
    assert pairs["--alpha-min"] == "0.3" and pairs["--num-frames"] == "16"


def test_curl_quotes_what_a_shell_would_run():
    text = snippets.curl(REQUEST, QUESTION, "x y.mp4", "http://here")
    line = next(line for line in text.splitlines() if line.strip().startswith("-d"))
    body = shlex.split(line.split(" | ")[0])[1]
    data = json.loads(body.replace("$CLIP", "/up/x.mp4"))["data"]
    assert data[0]["path"] == "/up/x.mp4" and data[1] == QUESTION
    assert data[6] == {"alpha_min": 0.3}
