"""``gleanvid new compressor NAME``: write a template of a new compressor and its test."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

METHOD = '''"""{title}: say here what the method does and who proposed it."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.types import Compression, VideoTokens


@dataclass(frozen=True)
class {kind}(Compressor):
    """Keeps the tokens that differ most from the same place in the previous unit."""

    name: ClassVar[str] = "{name}"
    title: ClassVar[str] = "{title}"
    paper: ClassVar[str] = "not published"

    first_unit: float = setting(
        1.0, "Score given to every token of the first unit", low=0.0, high=2.0, step=0.1
    )

    def _compress(self, tokens: VideoTokens) -> Compression:
        units = tokens.features.float().view(tokens.num_units, tokens.tokens_per_unit, -1)
        change = torch.full(units.shape[:2], self.first_unit, device=units.device)
        change[1:] = 1 - torch.cosine_similarity(units[1:], units[:-1], dim=-1)
        scores = change.flatten()
        keep = scores.topk(self.budget(tokens)).indices.sort().values
        return Compression.pruned(keep, tokens.grid, scores={{"change": scores}})
'''
TEST = '''"""{title} keeps what every compressor promises; see `gleanvid contract {name}.py`."""

from pathlib import Path

import pytest

import gleanvid
from gleanvid.compressors.contract import findings

(METHOD,) = gleanvid.register(Path(__file__).with_name("{name}.py"))
FOUND = findings(METHOD)


@pytest.mark.parametrize("promise", FOUND)
def test_promise_is_kept(promise):
    assert not FOUND[promise]
'''


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the options of the command."""
    parser.add_argument("what", choices=["compressor"])
    parser.add_argument(
        "name", help="name of the new compressor in lower case, such as most_changed"
    )
    parser.add_argument(
        "--out", type=Path, default=Path(), help="output folder (default: the current one)"
    )
    parser.set_defaults(run=_new)


def _new(options: argparse.Namespace) -> int:
    from gleanvid.compressors import COMPRESSORS

    name, folder = options.name, options.out
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(f"name={name!r} must be a lower-case name such as most_changed")
    title = name.replace("_", " ").capitalize()
    words = {"name": name, "title": title, "kind": name.title().replace("_", "")}
    files = {folder / f"{name}.py": METHOD, folder / f"test_{name}.py": TEST}
    for path in files:
        if path.exists():
            raise ValueError(f"{path} exists already")
    if name in COMPRESSORS:
        raise ValueError(f"name={name!r} is the name of another compressor")
    if find_spec(name):
        raise ValueError(
            f"name={name!r} is the name of a Python package, which the file would hide"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        path.write_text(text.format(**words), encoding="utf-8")
        print(path)
    return 0
