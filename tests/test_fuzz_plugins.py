"""Broken plug-ins, and junk settings of a plug-in's compressor, are refused with a message.

As in ``test_fuzz.py``, Hypothesis replaces parts of valid input, and the examples are the same in
every run.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.panels import controls
from components.session.request import make_compressor, pinned_settings
from gleanvid import plugins
from gleanvid.cli.options import add_compressor
from gleanvid.compressors import COMPRESSORS, as_compressor
from gleanvid.plots.labels import label_of
from gleanvid.plugins import PluginError
from tests.test_fuzz import ODD, changed, few, refused

PLUGIN = """
from dataclasses import dataclass
from typing import ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.types import Compression


@dataclass(frozen=True)
class Mine(Compressor):
    name: ClassVar[str] = {name}
    title: ClassVar[str] = {title}
    paper: ClassVar[str] = {paper}

    skip: int = setting(
        {default}, {help}, kind={kind}, low={low}, high={high}, step={step}, choices={choices},
        optional={optional}, start={start}, label={label}, at_most={at_most}, readout={readout},
    )
    word: str = setting("a", "A word", choices=("a", "b"))
    near: bool = setting(True, "Whether near ones count")
    share: float = setting(None, "A share", kind=float, low=0, high=1, optional="all", start=0.5)

    def _compress(self, tokens):
        return Compression.pruned(torch.arange(self.budget(tokens)), tokens.grid)
"""
PARTS = {
    "name": "'mine'", "title": "'My method'", "paper": "'an example'", "default": "2",
    "help": "'Tokens to skip'", "kind": "int", "low": "0", "high": "4", "step": "1",
    "choices": "None", "optional": "None", "start": "None", "label": "'Skip'", "at_most": "None",
    "readout": "()",
}  # fmt: skip
CODE = st.sampled_from(
    ["1 / 0", "exit()", "10**400", "-1", "0", "1e308", "float('nan')", "float('inf')", "None", "[]",
     "{}", "'\\ud800'", "'\\0\\x1b[2J'", "''", "'%d %s'", "'skip'", "'gone'", "object()", "print",
     "complex(1)", "setting", "torch.ones(2)", "((1, 2), [3])", "(lambda: skip)()", "*[1, 2]", ")",
     "'x' * 10**6", "True", "bool", "list", "float", "str", "(1, 2, 4)", "'full'", "b'x'", "2"]
)  # fmt: skip
NAMES = st.sampled_from(
    ["x" * 300, "x" * 300 + ".py", "\0.py", "~nobody-here/a.py", "/", ".", "", "a\udcff.py", "-x"]
) | st.text(max_size=20)


def register(folder, content):
    """Register a plug-in file with these bytes as content; return its classes."""
    path = Path(folder) / "mine.py"
    path.write_bytes(content)
    return plugins.load(str(path))


@pytest.fixture
def clean(own_plugins):
    """Return a function that removes the compressor "mine", to call before each example."""

    def forget():
        COMPRESSORS.pop("mine", None)

    return forget


def source(**parts):
    return PLUGIN.format(**PARTS | parts)


@pytest.fixture
def mine(tmp_path, own_plugins):
    return register(tmp_path, source().encode())[0]


@few(max_examples=60)
@given(data=st.data())
def test_random_settings_of_a_plugin_compressor_are_accepted_or_refused(mine, data):
    usual = {key: value for key, value in mine().settings().items() if key != "name"}
    sent = data.draw(changed(usual))
    with refused(ValueError):
        json.dumps(make_compressor("mine", sent if isinstance(sent, dict) else {}).settings())
    pinned_settings(json.dumps({"name": "mine"} | sent if isinstance(sent, dict) else sent))


VALUES = (
    ODD.map(str) | st.text(max_size=12) | st.sampled_from(["{[]}", "(" * 300, "-" * 5000 + "1"])
)


@few(max_examples=60)
@given(st.sampled_from(["skip", "word", "near", "share", "retention_ratio", "no"]), VALUES)
def test_random_text_as_settings_of_a_plugin_compressor_is_accepted_or_refused(mine, name, value):
    with refused(ValueError):
        as_compressor(f"mine({name}={value})")
    words = ["--compressor", "mine", f"--{name.replace('_', '-')}={value}"]
    parser = argparse.ArgumentParser(exit_on_error=False)
    with refused(ValueError, argparse.ArgumentError):
        add_compressor(parser, words)
        parser.parse_known_args(words)


@few(max_examples=120)
@given(parts=st.dictionaries(st.sampled_from([*PARTS]), CODE, min_size=1, max_size=3))
def test_plugin_compressor_declared_with_junk_is_refused_or_has_controls_and_options(
    clean, tmp_path, parts
):
    clean()
    made = None
    with refused(PluginError):
        (made,) = register(tmp_path, source(**parts).encode("utf-8", "surrogatepass"))
    if made is None:
        return
    json.dumps(made().settings())
    label_of(made().settings())
    own = controls.settings_by_key({"mine": made}, "mine", 0.25)
    json.dumps([one.drawn() for one in own.values()])
    parser = argparse.ArgumentParser()
    add_compressor(parser, ["--compressor", made.name])
    parser.format_help()


@few(max_examples=60)
@given(data=st.data())
def test_damaged_plugin_file_is_loaded_or_refused(clean, tmp_path, data):
    clean()
    whole = source().encode()
    first = data.draw(st.integers(0, len(whole)))
    junk = data.draw(st.binary(max_size=8) | st.sampled_from([b"exit()\n", b"raise SystemExit\n"]))
    with refused(PluginError):
        register(
            tmp_path, whole[:first] + junk + whole[data.draw(st.integers(first, len(whole))) :]
        )


@few(max_examples=40)
@given(NAMES)
def test_random_plugin_names_are_refused_with_a_message(name):
    with pytest.raises(PluginError) as raised:
        plugins.load(name)
    assert str(raised.value)
