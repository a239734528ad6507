import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from components.viewer import arrays
from components.viewer.arrays import Arena, pack_relevance, pack_run, stages
from gleanvid import COMPRESSORS
from gleanvid.attribution.relevance import Relevance, normalised
from gleanvid.compressors.shared.records import merge_record
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
    arena = Arena()
    return pack_run(run, label, arena), arena.content()


def levels(entry: dict, data: bytes) -> np.ndarray:
    return np.frombuffer(data, "<u2", TOTAL, entry["place"])


def test_tokens_of_a_later_stage_are_packed_with_indices_of_the_full_grid():
    first, later = random_record(TOTAL, 10), random_record(10, 4, 1, late=torch.arange(10.0))
    (_, before, _), (layer, after, scores) = stages(run_of({0: first, 5: later}))
    assert before is first and layer == 5
    assert torch.equal(after.keep, first.keep[later.keep])
    known = torch.isfinite(scores["late"])
    assert torch.equal(known, first.mask)
    assert scores["late"][first.keep].tolist() == list(range(10))


def test_packed_run_of_a_method_inside_the_model_begins_with_all_tokens():
    (first, all_of_it, _), (layer, left, _) = stages(run_of({7: random_record(TOTAL, 6)}))
    assert (first, layer) == (0, 7)
    assert all_of_it.num_kept == TOTAL and left.num_kept == 6


def test_packed_merged_token_refers_to_the_position_of_its_group_s_kept_token():
    video, library = moving_square(8), FakeBackend()
    tokens = library.tokens(video)
    tokens = type(tokens)(tokens.features, tokens.grid, saliency=torch.rand(len(tokens)))
    record = COMPRESSORS["holitom"](retention_ratio=0.3).compress(tokens)
    method, data = read(made_up_run(video, record, "holitom"))
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
def test_packed_scores_keep_their_values_and_missing_scores_stay_missing(bad):
    score = torch.linspace(-3, 2, TOTAL, dtype=torch.float64) ** 3
    score[5] = bad
    method, data = read(run_of(random_record(TOTAL, 6, score=score)))
    (entry,) = method["stages"][0]["scores"]
    found = levels(entry, data).astype(float)
    assert found[5] == 65535 and (np.delete(found, 5) <= 65534).all()
    values = entry["low"] + found / 65534 * (entry["high"] - entry["low"])
    error = np.abs(np.delete(values - score.numpy(), 5))
    assert error.max() <= (entry["high"] - entry["low"]) / 65534


def test_packed_data_is_limited_in_size_and_names_omitted_scores(monkeypatch):
    monkeypatch.setattr(arrays, "DATA_BYTES", 60)
    scores = {name: torch.rand(TOTAL) for name in ("other", "joint", "lrs")}
    method, data = read(run_of(random_record(TOTAL, 6, **scores)), "Mine")
    assert [entry["name"] for entry in method["stages"][0]["scores"]] == ["joint"]
    assert len(data) <= 60


def test_packed_relevance_map_is_decoded_unchanged_and_merged_tokens_count_by_weight():
    values = normalised(torch.rand(TOTAL, generator=torch.Generator().manual_seed(0)))
    found = Relevance(values, GRID, "?", "red", 0.0, "gradient", 0.0, (("red", values.flip(0)),))
    home = torch.arange(TOTAL) // 2 * 2
    record = merge_record(VideoTokens(torch.zeros(TOTAL, 1), GRID), home, torch.full((TOTAL,), 0.5))
    arena = Arena()
    packed = pack_relevance(found, arena)
    method = pack_run(run_of(record), "x", arena, None, found)
    for one, expected in zip(packed["maps"], (values, values.flip(0)), strict=True):
        read = levels(one, arena.content()) / 65535 * one["high"]
        assert np.allclose(read, expected, atol=one["high"] / 65535)
    assert [one["word"] for one in packed["maps"]] == ["", "red"]
    best = float(values.topk(TOTAL // 2).values.sum())
    assert method["mattered"] == pytest.approx([0.5, best, 0.5], abs=1e-4)


def test_relevance_kept_by_a_method_inside_the_model_is_averaged_over_layers():
    values = normalised(torch.rand(TOTAL, generator=torch.Generator().manual_seed(0)))
    found = Relevance(values, GRID, "?", "red", 0.0, "gradient", 0.0)
    run = run_of({2: random_record(TOTAL, 12), 3: random_record(12, 6, 1)})
    answered = replace(run, cost=replace(run.cost, visual_tokens_by_layer=(24, 24, 12, 6)))
    kept = found.kept_over_layers(answered.by_layer, 4).values()
    assert pack_run(answered, "x", Arena(), None, found)["mattered"] == pytest.approx(
        list(kept), abs=1e-4
    )
    depth_unknown = pack_run(run, "x", Arena(), None, found)
    assert depth_unknown["mattered"] is None
