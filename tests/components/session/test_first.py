"""The saved first result comes back as it was, and the one in the repository is whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

from components.session import first
from components.session.examples import FOLDER, examples
from components.viewer.payload import pack
from gleanvid import pipeline
from tests.components.viewer.test_viewer import run_of


def test_a_saved_run_comes_back(tmp_path):
    run = run_of()
    first.save(run, folder=tmp_path)
    loaded = first.load(tmp_path)
    packed = pack([run])
    assert {key: loaded.viewer[key] for key in packed.value} == packed.value
    assert Path(loaded.viewer["data"]["path"]).read_bytes() == packed.data
    assert (loaded.question, loaded.exchanges[0]["answer"]) == (run.question, run.answer)
    budgets, novelty = (go.Figure(loaded.figures[name]) for name in ("budget", "novelty"))
    assert list(budgets.data[0].y) == run.compression.budgets.tolist()
    assert list(novelty.data[0].y) == pytest.approx(run.compression.trace["novelty"].tolist())


def test_without_one_the_page_begins_empty(tmp_path):
    assert first.load(tmp_path) == first.First()


def test_the_one_in_the_repository_is_whole_and_fits_its_clip():
    loaded = first.load()
    grid, methods = loaded.viewer["grid"], loaded.viewer["methods"]
    assert len(methods) == 1 + len(first.COMPARED)
    for method in methods:
        assert method["stages"][0]["tokens"] == grid[0] * grid[1] * grid[2]
    for key, part in (("sheet", "frames"), ("data", "tokens")):
        size = Path(loaded.viewer[key]["path"]).stat().st_size
        assert size == loaded.viewer["bytes"][part]
    assert len(loaded.exchanges[0]["cost"]) == 6 and loaded.exchanges[0]["answer"]
    assert loaded.viewer["name"] == examples()[0].path.name


@pytest.mark.parametrize("threads", [1, 2])
def test_a_live_run_shows_the_same_tokens_and_words(threads):
    """``python -m components.session.first`` makes the saved one again where this fails."""
    saved, example = first.load(), examples()[0]
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        run = pipeline.ask(example.path, example.question, pipeline.load_model("builtin"))
    finally:
        torch.set_num_threads(before)
    place = saved.viewer["methods"][0]["stages"][0]["mask"]
    data = np.frombuffer(Path(saved.viewer["data"]["path"]).read_bytes(), np.uint8)
    mask = np.packbits(run.compression.mask.numpy())
    assert np.array_equal(data[place : place + len(mask)], mask)
    assert run.answer == saved.exchanges[0]["answer"]


def test_every_example_is_there_with_its_licence():
    notes = (FOLDER.parent / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for example in examples():
        assert example.path.is_file() and example.title and example.question
        assert example.path.name in notes
