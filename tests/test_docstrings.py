import doctest
import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

import gleanvid
from gleanvid import arguments

NAMES = [name for name in gleanvid.__all__ if callable(getattr(gleanvid, name))]
FUNCTIONS = [name for name in NAMES if inspect.isroutine(getattr(gleanvid, name))]


load_once = cache(gleanvid.load_model)


@pytest.mark.parametrize("name", NAMES)
def test_example_of_every_public_docstring_runs(name, monkeypatch):
    """Examples run with the public names, NumPy and torch, in the root of the repository."""
    monkeypatch.chdir(Path(__file__).parents[1])
    monkeypatch.setattr(arguments, "load_model", load_once)
    known = {other: getattr(gleanvid, other) for other in gleanvid.__all__}
    known |= {"np": np, "torch": torch, "load_model": load_once}
    finder = doctest.DocTestFinder(recurse=False)
    (example,) = finder.find(getattr(gleanvid, name), name, globs=known)
    assert example.examples, f"{name} has no example"
    assert not doctest.DocTestRunner().run(example).failed


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_of_the_public_api_is_documented(name):
    function = getattr(gleanvid, name)
    section = inspect.getdoc(function).split("Args:\n")[1].split("\n\n")[0]
    assert re.findall(r"^    (\w+):", section, re.M) == list(inspect.signature(function).parameters)


@pytest.mark.parametrize("name", ["agreement", "allocation", "saturation"])
def test_docstring_examples_of_metrics_run(name):
    result = doctest.testmod(importlib.import_module(f"gleanvid.metrics.{name}"))
    assert result.attempted and not result.failed
