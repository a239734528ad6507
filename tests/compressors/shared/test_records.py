import pytest
import torch

from gleanvid.compressors.shared.records import (
    Shares,
    identity_record,
    merge_record,
    required,
    shared_record,
    whole_record,
)
from gleanvid.types import Compression, VideoTokens

FEATURES = torch.arange(12.0).view(6, 2)
TOKENS = VideoTokens(FEATURES, (1, 2, 3))


def test_merged_tokens_have_the_given_positions_and_weighted_sums():
    home = torch.tensor([1, 1, -1, 4, 4, 5])
    weight = torch.tensor([0.25, 0.75, 9.0, 0.5, 0.5, 1.0])
    record = merge_record(TOKENS, home, weight)
    assert record.keep.tolist() == [1, 4, 5]
    assert record.group.tolist() == [0, 0, -1, 1, 1, 2]
    assert record.weight[2] == 0
    x = TOKENS.features
    expected = torch.stack([0.25 * x[0] + 0.75 * x[1], 0.5 * x[3] + 0.5 * x[4], x[5]])
    torch.testing.assert_close(record.apply(x), expected)


def test_identity_record_keeps_all_tokens_unchanged():
    record = identity_record(TOKENS)
    assert not record.merges
    assert torch.equal(record.apply(TOKENS.features), TOKENS.features)


def test_error_names_the_method_and_the_missing_signal():
    with pytest.raises(ValueError, match=r"Somebody needs VideoTokens\.keys"):
        required(TOKENS, "keys", "Somebody")


def test_compression_stages_compose_into_one_record_of_the_original_tokens():
    first = Compression.pruned(torch.tensor([1, 3, 4, 7]), (2, 2, 2))
    second = Compression.pruned(torch.tensor([0, 2]), (2, 2, 2), num_tokens=4)
    whole = whole_record({3: second, 0: first})
    assert whole.keep.tolist() == [1, 4] and whole.num_tokens == 8
    assert whole_record({0: first}) is first
    with pytest.raises(ValueError, match="no stage"):
        whole_record({})


def shares(place, source, weight, twin=False):
    return Shares.of(torch.tensor(place), torch.tensor(source), torch.tensor(weight), twin)


def test_record_without_tokens_merged_into_several_others_stores_no_mixing_matrix():
    merged = shares([4, 4, 4], [4, 1, 0], [0.5, 0.25, 0.25])
    record = shared_record(TOKENS, [Shares.untouched(torch.tensor([2])), merged])
    assert record.mixing is None
    assert record.keep.tolist() == [2, 4]
    assert record.group.tolist() == [1, 1, 0, -1, 1, -1]
    out = record.apply(FEATURES)
    torch.testing.assert_close(out[0], FEATURES[2])
    expected = 0.5 * FEATURES[4] + 0.25 * FEATURES[1] + 0.25 * FEATURES[0]
    torch.testing.assert_close(out[1], expected)


def test_token_merged_into_two_others_is_grouped_with_the_one_where_it_weighs_most():
    record = shared_record(TOKENS, [shares([0, 0, 3, 3], [0, 1, 3, 1], [0.7, 0.3, 0.4, 0.6])])
    assert record.mixing is not None
    assert record.group.tolist() == [0, 1, -1, 1, -1, -1]
    assert record.weight.tolist() == torch.tensor([0.7, 0.6, 0.0, 0.4, 0.0, 0.0]).tolist()
    out = record.apply(FEATURES)
    torch.testing.assert_close(out[0], 0.7 * FEATURES[0] + 0.3 * FEATURES[1])
    torch.testing.assert_close(out[1], 0.4 * FEATURES[3] + 0.6 * FEATURES[1])


def test_two_output_tokens_may_have_the_same_position():
    twin = shares([5, 5], [5, 4], [0.5, 0.5], twin=True)
    record = shared_record(TOKENS, [twin, Shares.untouched(torch.tensor([5]))])
    assert record.keep.tolist() == [5, 5]
    out = record.apply(FEATURES)
    torch.testing.assert_close(out[0], FEATURES[5])
    torch.testing.assert_close(out[1], (FEATURES[5] + FEATURES[4]) / 2)
    assert record.group.tolist() == [-1, -1, -1, -1, 1, 0]
