"""Arrays packed for the viewer equal the records: stages, groups, scores, labels, cuts."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from components.viewer import arrays
from components.viewer.arrays import Arena, pack_relevance, pack_run, stages
from components.viewer.payload import scene_cuts
from gleanvid import COMPRESSORS, Video
from gleanvid.attribution.relevance import Relevance, normalised
from gleanvid.ops.records import merge_record
from gleanvid.types import Compression, VideoTokens
from tests.components.fake import FakeBackend, moving_square
from tests.components.made_up import made_up_run

GRID = (3, 2, 4)
TOTAL = 24


def random_record(total: int, kept: int, seed: int = 0, **scores: torch.Tensor) -> Compression:
    order = torch.randperm(total, generator=torch.Generator().manual_seed(seed))
    return Compression.pruned(order[:kept].sort().values, GRID, scores, num_tokens=total)


def run_of(by_layer, name: str = "gleanvid", **settings):
    return made_up_run(moving_square(6), by_layer, name, **settings)


def read(run, label: str = "x"):
    arena, left_out = Arena(), []
    method = pack_run(run, label, arena, left_out)
    return method, arena.content(), left_out


def levels(entry: dict, data: bytes) -> np.ndarray:
    return np.frombuffer(data, "<u2", TOTAL, entry["place"])


def test_later_stage_is_packed_in_tokens_of_the_whole_grid():
    first, later = random_record(TOTAL, 10), random_record(10, 4, 1, late=torch.arange(10.0))
    (_, before, _), (layer, after, scores) = stages(run_of({0: first, 5: later}))
    assert before is first and layer == 5
    assert torch.equal(after.keep, first.keep[later.keep])
    known = torch.isfinite(scores["late"])
    assert torch.equal(known, first.mask)
    assert scores["late"][first.keep].tolist() == list(range(10))


def test_a_method_inside_the_model_begins_with_every_token():
    (first, all_of_it, _), (layer, left, _) = stages(run_of({7: random_record(TOTAL, 6)}))
    assert (first, layer) == (0, 7)
    assert all_of_it.num_kept == TOTAL and left.num_kept == 6


def test_stage_that_changes_nothing_is_left_out():
    same = random_record(10, 10)
    told = [
        layer for layer, _, _ in stages(run_of({0: random_record(TOTAL, 10), 1: same, 2: same}))
    ]
    assert told == [0]


def test_every_merged_token_names_the_token_its_row_stands_at():
    video, library = moving_square(8), FakeBackend()
    tokens = library.tokens(video)
    tokens = type(tokens)(tokens.features, tokens.grid, saliency=torch.rand(len(tokens)))
    record = COMPRESSORS["holitom"](retention_ratio=0.3).compress(tokens)
    method, data, _ = read(made_up_run(video, record, "holitom"))
    entry, total = method["stages"][0], record.num_tokens
    home = np.frombuffer(data, "<i4", total, entry["home"])
    taken = record.group >= 0
    assert ((home >= 0) == taken.numpy()).all()
    assert torch.equal(
        torch.from_numpy(home.copy())[taken].long(), record.keep[record.group[taken]]
    )
    assert set(home[home >= 0]) <= set(record.keep.tolist())
    share = np.frombuffer(data, "<u2", total, entry["weight"]) / 65535
    assert np.abs(share - record.weight.numpy()).max() <= 0.5 / 65535 + 1e-6


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_scores_keep_their_values_and_missing_ones_stay_missing(bad):
    score = torch.linspace(-3, 2, TOTAL, dtype=torch.float64) ** 3
    score[5] = bad
    method, data, _ = read(run_of(random_record(TOTAL, 6, score=score)))
    (entry,) = method["stages"][0]["scores"]
    found = levels(entry, data).astype(float)
    assert found[5] == 65535 and (np.delete(found, 5) <= 65534).all()
    values = entry["low"] + found / 65534 * (entry["high"] - entry["low"])
    error = np.abs(np.delete(values - score.numpy(), 5))
    assert error.max() <= (entry["high"] - entry["low"]) / 65534


def test_constant_and_empty_scores_are_marked():
    flat, none = torch.full((TOTAL,), 4.0), torch.full((TOTAL,), math.nan)
    method, data, _ = read(run_of(random_record(TOTAL, 6, flat=flat, none=none)))
    (entry,) = method["stages"][0]["scores"]
    assert entry["low"] == entry["high"] == 4.0 and (levels(entry, data) == 0).all()


def test_size_is_bounded_and_omitted_scores_are_named(monkeypatch):
    monkeypatch.setattr(arrays, "DATA_BYTES", 60)
    scores = {name: torch.rand(TOTAL) for name in ("other", "joint", "lrs")}
    method, data, left_out = read(run_of(random_record(TOTAL, 6, **scores)), "Mine")
    assert [entry["name"] for entry in method["stages"][0]["scores"]] == ["joint"]
    assert left_out == ["LRS of Mine", "other of Mine"]
    assert len(data) <= 60


def test_every_array_starts_where_a_typed_array_may():
    arena = Arena()
    starts = [arena.add(np.zeros(size, np.uint8)) for size in (1, 4, 7, 2)]
    assert [start % 4 for start in starts] == [0] * 4
    assert len(arena.content()) == arena.size


def test_a_cut_is_where_the_picture_changes_at_once():
    still = np.full((5, 40, 60, 3), (200, 40, 40), np.uint8)
    other = np.full((3, 40, 60, 3), (30, 90, 220), np.uint8)
    assert scene_cuts(np.concatenate([still, other, still])) == [5, 8]
    assert scene_cuts(moving_square(16).frames) == []
    assert scene_cuts(still[:1]) == []
    assert scene_cuts(Video.from_frames(np.zeros((2, 1, 1, 3), np.uint8)).frames) == []


def test_a_map_of_relevance_comes_back_and_a_merged_token_keeps_its_weight():
    values = normalised(torch.rand(TOTAL, generator=torch.Generator().manual_seed(0)))
    found = Relevance(values, GRID, "?", "red", 0.0, "gradient", 0.0, (("red", values.flip(0)),))
    home = torch.arange(TOTAL) // 2 * 2
    record = merge_record(VideoTokens(torch.zeros(TOTAL, 1), GRID), home, torch.full((TOTAL,), 0.5))
    arena = Arena()
    packed = pack_relevance(found, arena)
    method = pack_run(run_of(record), "x", arena, [], None, found)
    for one, expected in zip(packed["maps"], (values, values.flip(0)), strict=True):
        read = levels(one, arena.content()) / 65535 * one["high"]
        assert np.allclose(read, expected, atol=one["high"] / 65535)
    assert [one["word"] for one in packed["maps"]] == ["", "red"]
    best = float(values.topk(TOTAL // 2).values.sum())
    assert method["stages"][0]["mattered"] == pytest.approx([0.5, best], abs=1e-4)
