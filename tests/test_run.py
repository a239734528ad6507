import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch

from gleanvid.compressors import COMPRESSORS
from gleanvid.cost import Cost
from gleanvid.run import Run
from gleanvid.types import Compression, Video, VideoTokens


@pytest.fixture
def run():
    grid = (3, 2, 2)
    features = torch.randn(12, 16, generator=torch.Generator().manual_seed(0))
    record = COMPRESSORS["gleanvid"](0.5).compress(VideoTokens(features, grid))
    merged = Compression(
        torch.tensor([0, 2]),
        grid,
        torch.tensor([0, 0, 1] + [-1] * 9),
        torch.tensor([0.5, 0.5, 1.0] + [0.0] * 9),
        mixing=torch.eye(12)[:2].to_sparse_coo(),
        state={"phase": torch.tensor(2)},
    )
    frames = np.arange(6 * 4 * 4 * 3, dtype=np.uint8).reshape(6, 4, 4, 3)
    return Run(
        video=Video.from_frames(frames, fps=2.0, name="clip"),
        question="Was bewegt sich?",
        model="builtin",
        compressor=COMPRESSORS["gleanvid"](0.5).settings(),
        by_layer={0: record, 2: merged},
        answer="ein Kreis",
        cost=Cost(12, 6, 20, 14, 0.1, 0.2, 0.01, 0.3, 0.4, 5, 100.0, 30.0, 120.0),
        seconds=torch.tensor([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]]),
        rectangles=torch.tensor([[0, 0, 2, 2], [2, 0, 4, 2], [0, 2, 2, 4], [2, 2, 4, 4]]),
        made_with={"versions": {"torch": "2"}, "seed": 3},
    )


def assert_same_record(record, other):
    assert record.grid == other.grid
    for part in ("keep", "group", "weight"):
        assert torch.equal(getattr(record, part), getattr(other, part))
    for part in ("scores", "trace", "state"):
        mine, theirs = getattr(record, part), getattr(other, part)
        assert mine.keys() == theirs.keys()
        assert all(torch.equal(mine[name], theirs[name]) for name in mine)


def test_saved_run_is_loaded_unchanged(run, tmp_path):
    loaded = Run.load(run.save(tmp_path / "run"))
    assert loaded.summary() == run.summary() and loaded.made_with["seed"] == 3
    assert np.array_equal(loaded.video.frames, run.video.frames)
    for layer, record in run.by_layer.items():
        other = loaded.by_layer[layer]
        assert_same_record(other, record)
    rows = torch.randn(12, 5)
    assert torch.equal(loaded.by_layer[2].apply(rows), run.by_layer[2].apply(rows))


def test_saved_record_is_loaded_unchanged(run, tmp_path):
    rows = torch.randn(12, 5)
    for record in run.by_layer.values():
        saved = record.save(tmp_path / "record")  # a name without an ending stays as it is
        assert saved == tmp_path / "record"
        loaded = Compression.load(saved)
        assert_same_record(loaded, record)
        assert torch.equal(loaded.apply(rows), record.apply(rows))
    wide = replace(record, weight=record.weight.bfloat16())  # which NumPy does not know
    assert torch.equal(Compression.load(wide.save(saved)).weight, record.weight)


@pytest.mark.parametrize("kind", ["missing", "text", "array", "other arrays", "cut"])
def test_other_files_are_refused_as_records(kind, run, tmp_path):
    path = tmp_path / "record.npz"
    if kind == "text":
        path.write_text("keep")
    elif kind == "array":
        np.save(path.open("wb"), np.arange(3))
    elif kind == "other arrays":
        np.savez(path, grid=np.array([3, 2, 2]), keep=np.arange(3))
    elif kind == "cut":
        run.compression.save(path)
        path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ValueError, match="not a saved compression record"):
        Compression.load(path)


def test_records_and_runs_can_be_pickled(run):
    copy = pickle.loads(pickle.dumps(run))
    assert copy.summary() == run.summary()
    for layer, record in run.by_layer.items():
        assert_same_record(copy.by_layer[layer], record)
        with pytest.raises(TypeError):
            copy.by_layer[layer].state["more"] = torch.zeros(1)
    rows = torch.randn(12, 5)
    assert torch.equal(copy.by_layer[2].apply(rows), run.by_layer[2].apply(rows))


def test_reduction_ttft_throughput_and_average_retention_are_computed_from_the_cost(run):
    cost = run.cost
    assert cost.flops_reduction == pytest.approx(0.75)
    assert cost.ttft_s == pytest.approx(0.2 + 0.01 + 0.3)
    assert cost.tokens_per_s == pytest.approx(10.0)
    assert cost.average_retention == pytest.approx(0.5)
    assert replace(cost, visual_tokens_by_layer=(12, 6, 3, 3)).average_retention == 0.5
