import pytest
import torch

import gleanvid
from gleanvid.attribution.relevance import Relevance, normalised
from gleanvid.compressors import COMPRESSORS
from gleanvid.types import Compression, VideoTokens

GRID = (2, 1, 2)


def relevance_of(values, grid=GRID):
    return Relevance(torch.tensor(values), grid, "what?", "it", -1.0, "gradient", 0.0)


FOUND = relevance_of([0.4, 0.2, 0.3, 0.1])


def test_relevance_of_a_unit_is_the_sum_over_its_tokens():
    assert FOUND.units.tolist() == pytest.approx([0.6, 0.4])


def test_pruning_keeps_the_relevance_of_the_kept_tokens():
    record = Compression.pruned(torch.tensor([0, 3]), GRID)
    assert FOUND.kept(record) == pytest.approx(0.5)
    assert FOUND.best(2) == pytest.approx(0.7) and FOUND.random(2) == 0.5


def test_merging_keeps_the_relevance_of_each_token_times_its_merging_weight():
    group, weight = torch.tensor([0, 0, -1, 1]), torch.tensor([0.75, 0.25, 0.0, 1.0])
    record = Compression(torch.tensor([0, 3]), GRID, group, weight)
    assert FOUND.kept(record) == pytest.approx(0.75 * 0.4 + 0.25 * 0.2 + 0.1)


def test_token_mixed_into_several_kept_tokens_counts_at_most_once():
    mixing = torch.tensor([[1.0, 0, 0, 0], [0.5, 0.25, 0.25, 0]]).to_sparse().coalesce()
    group, weight = torch.tensor([0, 1, 1, -1]), torch.tensor([1.0, 0.25, 0.25, 0.0])
    record = Compression(torch.tensor([0, 1]), GRID, group, weight, mixing=mixing)
    assert FOUND.kept(record) == pytest.approx(0.4 + 0.25 * 0.2 + 0.25 * 0.3)


def test_relevance_kept_over_layers_counts_a_token_in_each_layer_that_reads_it():
    two = Compression.pruned(torch.tensor([0, 3]), GRID)
    early = FOUND.kept_over_layers({0: two}, 4)
    assert early == pytest.approx(FOUND.kept_with_bounds(two))
    # compressed at layer 2 of 4: layers 0 and 1 read all tokens
    late = FOUND.kept_over_layers({2: two}, 4)
    assert late == pytest.approx({"kept": 0.75, "best": 0.85, "random": 0.75})
    then = {0: two, 3: Compression.pruned(torch.tensor([0]), (1, 1, 2))}
    assert FOUND.kept_over_layers(then, 4)["kept"] == pytest.approx((3 * 0.5 + 0.4) / 4)


def test_compression_record_of_another_clip_is_refused():
    with pytest.raises(ValueError, match="8 tokens"):
        FOUND.kept(Compression.pruned(torch.tensor([0]), (2, 2, 2)))


def test_relevance_is_clipped_at_zero_and_normalised_and_uniform_if_no_value_is_positive():
    assert normalised(torch.tensor([3.0, -1.0, 1.0])).tolist() == [0.75, 0.0, 0.25]
    assert normalised(torch.zeros(4)).tolist() == [0.25] * 4


@pytest.mark.parametrize("name", [name for name in COMPRESSORS if name not in ("full", "ablation")])
def test_no_compressor_keeps_more_relevance_than_as_many_of_the_most_relevant_tokens(name):
    generator, grid = torch.manual_seed(0), (4, 6, 6)
    total = 4 * 36
    rows = torch.randn(total, 32, generator=generator)
    signals = {"saliency": torch.rand(total, generator=generator), "keys": rows}
    stage = dict(COMPRESSORS[name](0.5).at_depth(4).stages).get(0)
    if stage is None:
        pytest.skip("acts inside the language model alone")
    record = stage.compress(VideoTokens(rows, grid, **signals, text=rows[:3]))
    found = relevance_of(normalised(torch.rand(total, generator=generator)).tolist(), grid)
    assert 0 < found.kept(record) <= found.best(record.num_kept) + 1e-5


def test_measuring_relevance_with_the_photo_encoder_is_refused_with_the_reason():
    with pytest.raises(gleanvid.ModelError, match="answers no question"):
        gleanvid.relevance("assets/clips/glimpse_1.mp4", "What?", "mobilenet_v2", num_frames=4)
