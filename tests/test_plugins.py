from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import gleanvid
from gleanvid import VideoTokens, plugins
from gleanvid.cli import main
from gleanvid.compressors import COMPRESSORS, as_compressor, key_of
from gleanvid.evaluation.benchmarks import benchmark_class
from gleanvid.plugins import PluginError, Registry, register
from gleanvid.serving.vllm.methods import servable

ROOT = Path(__file__).parents[1]
FIRST = """
from dataclasses import dataclass
from typing import ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.types import Compression, VideoTokens


@dataclass(frozen=True)
class FirstOnes(Compressor):
    name: ClassVar[str] = "first"
    title: ClassVar[str] = "First ones"
    paper: ClassVar[str] = "an example"

    skip: int = setting(0, "Tokens passed over at the start", low=0, high=4, step=1)

    def _compress(self, tokens: VideoTokens) -> Compression:
        start = min(self.skip, len(tokens) - self.budget(tokens))
        keep = torch.arange(start, start + self.budget(tokens))
        return Compression.pruned(keep, tokens.grid)
"""
BENCHMARK = """
from dataclasses import dataclass
from gleanvid.evaluation.benchmarks import Benchmark, Item

@dataclass(frozen=True)
class Mine(Benchmark):
    name = "mine"
    def items(self, limit=None, seed=0): return []
    def video(self, clip, num_frames): ...
    def right(self, item, response): return False
"""
FAMILY = """
from gleanvid.models.families.qwen3_vl import Qwen3VL

class Mine(Qwen3VL):
    model_types = ("my_vl",)
"""


@pytest.fixture
def write_plugin(tmp_path, own_plugins):
    def write(text=FIRST, name="first.py"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def test_compressor_from_a_plugin_file_has_options_ranges_and_a_table_row(write_plugin, capsys):
    file = write_plugin()
    clip = str(ROOT / "assets" / "clips" / "glimpse_1.mp4")
    words = ["compress", "--plugin", file, "--compressor", "first", "--num-frames", "4"]
    out = str(Path(file).parent / "out")
    assert main([*words, "--skip", "3", clip, "--out", out]) == 0
    assert main([*words, "--skip", "9", clip, "--out", out]) == 2
    assert "skip=9 must be in [0, 4]" in capsys.readouterr().err
    assert main(["methods", "--plugin", file, "--json"]) == 0
    (row,) = [row for row in json.loads(capsys.readouterr().out) if row["name"] == "first"]
    assert row["title"] == "First ones" and row["licence"] == ""
    assert key_of("first ONES") == "first" and "first" in servable()


def test_plugin_file_may_register_benchmarks_and_model_families(write_plugin):
    (mine,) = register(write_plugin(BENCHMARK, "bench.py"))
    assert benchmark_class("mine") is mine
    (family,) = register(write_plugin(FAMILY, "family.py"))
    assert gleanvid.MODELS["my_vl"] is family and family not in COMPRESSORS.values()


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("import torch", "import torch, gone_away", "No module named 'gone_away'"),
        ("skip: int", "skip: int =", "SyntaxError"),
        ("_compress", "_squeeze", "FirstOnes does not implement _compress"),
        ("@dataclass(frozen=True)", "", "must be decorated with @dataclass"),
        ('"first"', '"full"', "the name 'full' is taken already"),
        ('"First ones"', '"V-Cast"', "'V-Cast' is another method's name or title"),
        (
            '"first"',
            '"First ones"',
            "FirstOnes.name='First ones' must be a lower-case name such as my_method",
        ),
        ('title: ClassVar[str] = "First ones"', "", "FirstOnes.title=None must be text"),
        ("setting(0,", "setting(9,", "refuses its own defaults: skip=9 must be in"),
        ("setting(0,", "setting(None,", "FirstOnes.skip must be declared with kind="),
        ('setting(0, "Tokens passed over at the start", low=0, high=4, step=1)', "0", "setting("),
        ("class FirstOnes", "class _FirstOnes", "it has no Compressor"),
    ],
)
def test_broken_plugin_file_is_named_and_other_plugins_load(old, new, named, write_plugin, caplog):
    broken, whole = write_plugin(FIRST.replace(old, new), "broken.py"), write_plugin()
    plugins.load_all([broken, whole])
    (warning,) = caplog.messages
    assert warning.startswith("plug-in broken.py cannot be used: ") and named in warning
    assert "first" in COMPRESSORS


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('return {}["a"]', r"KeyError: 'a' \(first\.py:20\)"),
        ("return torch.zeros(2) @ torch.ones(3)", r"RuntimeError: .* \(first\.py:20\)"),
        ("return [0, 1]", "TypeError: _compress returned list, not a Compression"),
        (
            "return Compression.pruned(torch.zeros(4, dtype=torch.int64), tokens.grid)",
            "ContractError: keep names a token twice",
        ),
    ],
)
def test_error_of_a_failing_plugin_names_the_plugin_and_the_reason(line, reason, write_plugin):
    (method,) = register(
        write_plugin(FIRST.replace("start = min(", f"{line}\n        start = min("))
    )
    tokens = VideoTokens(torch.rand(8, 4), (2, 2, 2))
    with pytest.raises(PluginError, match=rf"plug-in first\.py: First ones failed: {reason}"):
        method().compress(tokens)


@pytest.mark.parametrize("command", ["ask", "compare", "compress", "eval"])
def test_commands_print_one_sentence_for_a_failing_plugin(command, write_plugin, tmp_path, capfd):
    file = write_plugin(FIRST.replace("start = min(", 'return {}["a"]\n        start = min('))
    clip = str(ROOT / "assets" / "clips" / "glimpse_1.mp4")
    out = ["--out", str(tmp_path / "out")]
    words = {
        "ask": ["ask", clip, "What moves?", "--num-frames", "4"],
        "compare": ["compare", clip, "What moves?", "--num-frames", "4"],
        "compress": ["compress", clip, *out, "--num-frames", "4"],
        "eval": ["eval", "--benchmark", "glimpse", *out, "--limit", "1"],
    }[command]
    codes = {"ask": 2, "compare": 1, "compress": 1, "eval": 1}
    assert main([*words, "--plugin", file, "--compressor", "first"]) == codes[command]
    told = "".join(capfd.readouterr())
    assert "plug-in first.py: First ones failed: KeyError: 'a' (first.py:20)" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("name", ["nowhere.py", "no-such-distribution"])
def test_missing_plugin_is_refused_by_name(name):
    with pytest.raises(PluginError, match=name):
        register(name)


def test_compressor_from_a_plugin_file_can_be_unpickled_in_another_process(write_plugin):
    register(write_plugin())
    made = pickle.dumps((partial(plugins.load_all, plugins.loaded()), as_compressor("first(0.5)")))
    program = "import pickle, sys\nhook = pickle.load(sys.stdin.buffer)\n"
    hook, method = pickle.loads(made)
    sent = pickle.dumps(hook) + pickle.dumps(method)
    program += "hook()\nprint(pickle.load(sys.stdin.buffer))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=sent,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.stdout.decode().strip() == repr(method), done.stderr


def test_compressor_of_the_guide_passes_the_contract(own_plugins, capsys):
    file = ROOT / "docs" / "guides" / "most_changed.py"
    assert main(["contract", str(file)]) == 0
    assert "FAIL" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("tokens))\n        return", "tokens) + 1)\n        return", "instead of"),
        (
            "tokens))\n        return",
            "tokens)).flip(0)\n        return",
            "valid record. PluginError",
        ),
        ("keep = torch.arange(", "keep = torch.arange(-1 + 0 * ", "keep has an invalid index"),
        ("tokens.grid)", "(1, 1, len(tokens)))", "returns the grid"),
        ("start = min(", "tokens.features.neg_()\n        start = min(", "changes tokens.features"),
        ("start = min(", "tokens.saliency.sum()\n        start = min(", "AttributeError"),
        ("self.skip, len", "int(torch.rand(1) * 9), len", "when called again"),
        ("min(self.skip, len(tokens) - self.budget(tokens))", "self.skip", "with skip=4"),
    ],
)
def test_contract_command_names_the_broken_rule(old, new, named, write_plugin, capsys):
    assert FIRST.count(old) == 1
    assert main(["contract", write_plugin(FIRST.replace(old, new))]) == 1
    assert named in capsys.readouterr().out


@pytest.fixture
def install_plugin(monkeypatch):
    """Function that installs a fake plug-in; returns a list that grows each time it is loaded."""
    loads = []

    def install(value):
        class Point(EntryPoint):
            dist = SimpleNamespace(name="my-dist")

            def load(self):
                loads.append(1)
                return value() if isinstance(value, partial) else value

        point = Point("mine", "mine:Mine", "gleanvid.compressors")
        points = {point.group: (point,)}
        monkeypatch.setattr(plugins, "_installed", lambda group: points.get(group, ()))
        monkeypatch.setattr(plugins, "_ignored", set())
        return loads

    return install


def registry():
    return Registry("gleanvid.compressors", {}, lambda kind, known: ["never"])


def test_plugin_entry_points_are_loaded_when_a_registry_is_first_used(install_plugin, caplog):
    loads, asked = install_plugin(dict), registry()
    assert not loads
    assert not list(asked) and not list(asked) and len(loads) == 1
    assert caplog.messages == [
        "plug-in my-dist cannot be used: dict is no Compressor, ModelAdapter or Benchmark"
    ]


def test_public_server_loads_plugin_distributions_only_by_name(install_plugin, write_plugin):
    (first,) = register(write_plugin())
    del COMPRESSORS["first"]
    loads = install_plugin(first)
    plugins.ignore_installed()
    assert not registry() and not loads
    assert plugins.load("my-dist") == [first] and COMPRESSORS["first"] is first
