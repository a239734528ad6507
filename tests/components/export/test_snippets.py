import ast
import inspect
import json
import re
import shlex
from dataclasses import asdict, replace

import pytest

from components.export import snippets
from components.server.endpoints import Calls
from gleanvid import COMPRESSORS, GleanVID, Sampling, by_hand
from gleanvid.cli import ask, main, parse
from gleanvid.cli.options import sampling
from gleanvid.compressors.vidcom2 import VidCom2

QUESTION = 'What\'s "this"; rm -rf $HOME `x`?'
RECIPE = snippets.Recipe(
    clip="x.mp4",
    question=QUESTION,
    model="builtin",
    frames=16,
    compressor=GleanVID(0.1, alpha_min=0.3),
    pixels=100,
    sampling={"seed": 0, "temperature": 0.5, "top_p": 1.0, "max_new_tokens": 64},
)


def test_python_snippet_parses_and_contains_the_changed_settings():
    tree = ast.parse(snippets.python(RECIPE))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert {QUESTION, "x.mp4", 16, 0.1, 0.3, 0.5} <= texts
    names = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
    assert {"alpha_min", "retention_ratio", "temperature", "seed", "max_pixels"} <= names


def test_snippets_for_greedy_decoding_leave_out_sampling_options():
    recipe = replace(RECIPE, sampling=RECIPE.sampling | {"temperature": 0.0})
    assert "seed" not in snippets.python(recipe)
    assert "sampling" not in snippets.command(recipe)


@pytest.mark.parametrize(
    ("name", "question"), [*((name, QUESTION) for name in COMPRESSORS), ("gleanvid", "--help")]
)
def test_command_snippet_is_parsed_to_the_settings_that_it_was_made_from(
    name, question, monkeypatch
):
    read = []
    monkeypatch.setattr(ask, "_ask", lambda options: read.append(options) or 0)
    expected, method = Sampling(9, temperature=0.5, top_p=0.9, seed=7), COMPRESSORS[name]()
    recipe = snippets.Recipe("-x.mp4", question, "a/b", 16, method, 100, asdict(expected))
    words = shlex.split(snippets.command(recipe))
    assert words[0] == "gleanvid" and main(words[1:]) == 0
    (options,) = read
    own = {name: getattr(options, name) for name in options.settings}
    assert options.method(**own) == method
    assert (options.video, options.question, options.model) == ("-x.mp4", question, "a/b")
    assert (options.num_frames, options.max_new_tokens) == (16, 9)
    assert options.max_pixels == 100 * 16 and sampling(options) == expected


def test_curl_snippet_quotes_shell_characters():
    text = snippets.curl(replace(RECIPE, clip="x y.mp4"), "http://here")
    line = next(line for line in text.splitlines() if line.strip().startswith("-d"))
    body = shlex.split(line.split(" | ")[0])[1]
    data = json.loads(body.replace("$CLIP", "/up/x.mp4"))
    assert data["video"]["path"] == "/up/x.mp4" and data["question"] == QUESTION
    assert data["settings"] == {"alpha_min": 0.3}
    known = inspect.signature(Calls.ask).parameters
    assert set(data) <= set(known)
    needed = {name for name, one in known.items() if one.default is one.empty} - {"self"}
    assert needed <= set(data)


def test_curl_snippet_leaves_out_default_values():
    plain = {"seed": 0, "temperature": 0.0, "top_p": 1.0, "max_new_tokens": 64}
    text = snippets.curl(replace(RECIPE, pixels=0, sampling=plain, compressor=GleanVID(0.1)), "")
    for name in ("seed", "temperature", "top_p", "max_new_tokens", "pixels", "settings"):
        assert f'"{name}"' not in text


def test_snippets_contain_the_time_span_or_say_that_they_read_the_whole_clip():
    recipe = replace(RECIPE, span=(1.5, None))
    assert "start=1.5)" in snippets.python(recipe)
    assert " --from 1.5 " in snippets.command(recipe) and "--to" not in snippets.command(recipe)
    assert snippets.curl(recipe, "http://here").startswith("# The API reads whole clips")
    assert snippets.command(replace(recipe, asks=False)).startswith("# gleanvid compress reads")


def test_hand_edited_tokens_survive_the_python_and_command_snippets(monkeypatch):
    method, read = by_hand("2x3x4 0-5 9"), []
    recipe = replace(RECIPE, compressor=method)
    (call,) = re.findall(r"gleanvid\.by_hand\('(.*)'\)", snippets.python(recipe))
    monkeypatch.setattr(ask, "_ask", lambda options: read.append(options) or 0)
    assert main(shlex.split(snippets.command(recipe))[1:]) == 0
    own = {name: getattr(read[0], name) for name in read[0].settings}
    assert by_hand(call) == read[0].method(**own) == method


def test_command_snippet_says_settings_with_the_names_of_sampling_in_brackets():
    method = VidCom2(0.1, temperature=0.5)
    recipe = replace(RECIPE, compressor=method)
    words = shlex.split(snippets.command(recipe))[1:]
    options = parse(words)
    assert "vidcom2(temperature=0.5)" in words
    assert options.method(**{name: getattr(options, name) for name in options.settings}) == method
