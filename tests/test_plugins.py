"""Methods, families and benchmarks of files and distributions from outside the package."""

from __future__ import annotations

import ast
import os
import pickle
import subprocess
import sys
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

import gleanvid
from gleanvid import plugins
from gleanvid.cli import main
from gleanvid.compressors import COMPRESSORS, as_compressor, key_of
from gleanvid.evaluation.benchmarks import benchmark_class
from gleanvid.plugins import PluginError, Registry, register
from gleanvid.serving.vllm.methods import servable
from gleanvid.serving.vllm.start import method_of

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
    def prompt(self, item): return item.question
    def right(self, item, response): return False
"""
FAMILY = """
from gleanvid.models.families.qwen3_vl import Qwen3VL

class Mine(Qwen3VL):
    model_types = ("my_vl",)
"""


@pytest.fixture
def outside(tmp_path, own_plugins):
    """A function that writes a plug-in file and returns its path."""

    def write(text=FIRST, name="first.py"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def test_a_method_of_a_file_has_options_ranges_and_a_row(outside, capsys):
    file = outside()
    clip = str(ROOT / "assets" / "clips" / "glimpse_1.mp4")
    words = ["compress", "--plugin", file, "--compressor", "first", "--num-frames", "4"]
    out = str(Path(file).parent / "out")
    assert main([*words, "--skip", "3", clip, "--out", out]) == 0
    assert main([*words, "--skip", "9", clip, "--out", out]) == 2
    assert "skip=9 must be in [0, 4]" in capsys.readouterr().err
    assert main(["methods", "--plugin", file, "--json"]) == 0
    assert '"First ones"' in capsys.readouterr().out
    assert key_of("first ONES") == "first" and "first" in servable()


def test_a_file_may_have_benchmarks_and_families(outside):
    (mine,) = register(outside(BENCHMARK, "bench.py"))
    assert benchmark_class("mine") is mine
    (family,) = register(outside(FAMILY, "family.py"))
    assert gleanvid.MODELS["my_vl"] is family and family not in COMPRESSORS.values()


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("import torch", "import torch, gone_away", "No module named 'gone_away'"),
        ("skip: int", "skip: int =", "SyntaxError"),
        ("_compress", "_squeeze", "FirstOnes does not implement _compress"),
        ("@dataclass(frozen=True)", "", "must be decorated with @dataclass"),
        ('"first"', '"full"', "'full' is the name of another one already"),
        ('"First ones"', '"V-Cast"', "'V-Cast' names another method"),
        ('"first"', '"First ones"', "FirstOnes.name='First ones' must be like my_method"),
        ('title: ClassVar[str] = "First ones"', "", "FirstOnes.title=None must be text"),
        ("setting(0,", "setting(9,", "refuses its own defaults: skip=9 must be in"),
        ("setting(0,", "setting(None,", "FirstOnes.skip must be declared with kind="),
        ('setting(0, "Tokens passed over at the start", low=0, high=4, step=1)', "0", "setting("),
        ("class FirstOnes", "class _FirstOnes", "it has no Compressor"),
    ],
)
def test_broken_file_is_named_and_other_plugins_load(old, new, named, outside, caplog):
    broken, whole = outside(FIRST.replace(old, new), "broken.py"), outside()
    plugins.load_all([broken, whole])
    (warning,) = caplog.messages
    assert warning.startswith("plug-in broken.py cannot be used: ") and named in warning
    assert "first" in COMPRESSORS


@pytest.mark.parametrize("name", ["nowhere.py", "no-such-distribution"])
def test_missing_plugin_is_named(name):
    with pytest.raises(PluginError, match=name):
        register(name)


def test_a_class_is_registered_again_but_not_twice_under_one_name(outside):
    (first,) = register(outside())
    assert register(first) is first
    (again,) = register(outside())  # the file was saved once more
    assert COMPRESSORS["first"] is again
    with pytest.raises(PluginError, match=r"other\.py.*'first' is the name of another"):
        register(outside(FIRST, "other.py"))


def test_a_method_of_a_file_survives_pickling_in_another_process(outside):
    register(outside())
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


def test_vllm_loads_the_file_in_every_process(outside):
    config = SimpleNamespace(gleanvid={"name": "first", "skip": 2}, gleanvid_plugin=outside())
    assert method_of(config).settings() == {"name": "first", "retention_ratio": 0.25, "skip": 2}


def test_a_new_compressor_keeps_the_contract(outside, tmp_path, capsys):
    words = ["new", "compressor", "most_changed", "--out", str(tmp_path)]
    assert main(words) == 0 and main(words) == 2
    assert main(["contract", str(tmp_path / "most_changed.py")]) == 0
    told = capsys.readouterr()
    assert "most_changed.py is there already" in told.err and "FAIL" not in told.out
    checks = tmp_path / "test_most_changed.py"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(checks)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 0 and "7 passed" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("tokens))\n        return", "tokens) + 1)\n        return", "instead of"),
        ("keep = torch.arange(", "keep = torch.arange(-1 + 0 * ", "keeps"),
        ("tokens.grid)", "(1, 1, len(tokens)))", "returns the grid"),
        ("start = min(", "tokens.features.neg_()\n        start = min(", "changes tokens.features"),
        ("start = min(", "tokens.saliency.sum()\n        start = min(", "AttributeError"),
        ("self.skip, len", "int(torch.rand(1) * 9), len", "when called again"),
        ("min(self.skip, len(tokens) - self.budget(tokens))", "self.skip", "with skip=4"),
    ],
)
def test_the_contract_says_what_breaks(old, new, named, outside, capsys):
    assert FIRST.count(old) == 1
    assert main(["contract", outside(FIRST.replace(old, new))]) == 1
    assert named in capsys.readouterr().out


@pytest.fixture
def installed(monkeypatch):
    """Return a function that installs a fake plug-in and returns a list of its loads.

    The list grows by one each time the entry point of the plug-in is loaded.
    """
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


def test_entry_points_are_read_when_a_registry_is_first_asked(installed, caplog):
    loads, asked = installed(dict), registry()
    assert not loads
    assert not list(asked) and not list(asked) and len(loads) == 1
    assert caplog.messages == [
        "plug-in my-dist cannot be used: dict is no Compressor, ModelAdapter or Benchmark"
    ]


def test_a_broken_distribution_is_named(installed, caplog):
    installed(partial(ast.parse, "("))
    assert len(registry()) == 0
    assert caplog.messages[0].startswith("plug-in my-dist cannot be used: SyntaxError")


def test_a_public_server_loads_distributions_only_by_name(installed, outside):
    (first,) = register(outside())
    del COMPRESSORS["first"]
    loads = installed(first)
    plugins.ignore_installed()
    assert not registry() and not loads
    assert plugins.load("my-dist") == [first] and COMPRESSORS["first"] is first
