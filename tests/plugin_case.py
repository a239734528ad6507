"""Plug-in files, and registries that are afterwards as they were."""

from __future__ import annotations

import sys

import pytest

from gleanvid import plugins
from gleanvid.compressors import COMPRESSORS
from gleanvid.evaluation.benchmarks import BENCHMARKS
from gleanvid.models import MODELS

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
        keep = torch.arange(start, start + self.budget(tokens), device=tokens.features.device)
        return Compression.pruned(keep, tokens.grid)
"""


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """A function that writes a plug-in file and returns its path."""
    before = [(registry, dict(registry)) for registry in (COMPRESSORS, MODELS, BENCHMARKS)]
    monkeypatch.setattr(plugins, "_loaded", [])

    def write(text=FIRST, name="first.py"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    yield write
    for registry, entries in before:
        for name in registry.keys() - entries.keys():
            del registry[name]
    for name in [name for name in sys.modules if name.startswith("gleanvid_plugin_")]:
        del sys.modules[name]
