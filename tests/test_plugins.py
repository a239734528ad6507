import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import gleanvid
from gleanvid import VideoTokens, plugins
from gleanvid.cli import main
from gleanvid.compressors import COMPRESSORS, as_compressor, key_of
from gleanvid.evaluation.benchmarks import benchmark_class
from gleanvid.plugins import PluginError, register
from gleanvid.serving.vllm.methods import servable

ROOT = Path(__file__).parents[1]
CLIP = str(ROOT / "assets" / "clips" / "glimpse_1.mp4")
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
    words = ["compress", "--plugin", file, "--compressor", "first", "--num-frames", "4"]
    out = str(Path(file).parent / "out")
    assert main([*words, "--skip", "3", CLIP, "--out", out]) == 0
    assert main([*words, "--skip", "9", CLIP, "--out", out]) == 2
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
def test_error_of_a_broken_plugin_file_names_the_file_and_the_reason(old, new, named, write_plugin):
    with pytest.raises(PluginError, match=r"^plug-in broken\.py cannot be used: ") as error:
        register(write_plugin(FIRST.replace(old, new), "broken.py"))
    assert named in str(error.value) and "first" not in COMPRESSORS


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


def test_command_prints_one_sentence_for_a_failing_plugin(write_plugin, capfd):
    file = write_plugin(FIRST.replace("start = min(", 'return {}["a"]\n        start = min('))
    words = ["ask", CLIP, "What moves?", "--num-frames", "4", "--plugin", file]
    assert main([*words, "--compressor", "first"]) == 2
    message = "".join(capfd.readouterr())
    assert "plug-in first.py: First ones failed: KeyError: 'a' (first.py:20)" in message
    assert "Traceback" not in message


def test_missing_plugin_file_is_refused_by_name():
    with pytest.raises(PluginError, match=r"nowhere\.py.*there is no such Python file"):
        register("nowhere.py")


def test_registering_the_same_class_twice_works_and_two_classes_of_one_name_do_not(write_plugin):
    (first,) = register(write_plugin())
    assert register(first) is first
    (again,) = register(write_plugin())  # registers the same file once more
    assert COMPRESSORS["first"] is again
    with pytest.raises(PluginError, match=r"other\.py.*the name 'first' is taken already"):
        register(write_plugin(FIRST, "other.py"))


def test_compressor_from_a_plugin_file_can_be_unpickled_in_another_process(write_plugin):
    register(write_plugin())
    method = as_compressor("first(0.5)")
    program = "import pickle, sys\nfrom gleanvid.plugins import load\nload(sys.argv[1])\n"
    program += "print(pickle.load(sys.stdin.buffer))"
    done = subprocess.run(
        [sys.executable, "-c", program, *plugins.loaded()],
        input=pickle.dumps(method),
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
