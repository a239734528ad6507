"""Laws of VidCom2, V-CAST, FlashVID and FastVID."""

import pytest
import torch

from gleanvid.compressors.base import Chain
from gleanvid.compressors.fastvid import FastVID
from gleanvid.compressors.flashvid import FlashVID, FlashVIDPrune
from gleanvid.compressors.vcast import VCast
from gleanvid.compressors.vidcom2 import VidCom2
from gleanvid.types import VideoTokens
from tests.compressors.identity_layers import pass_through
from tests.golden.inputs import video_features

FASTVID = ("llava_onevision", "llava_video", "qwen2_5_vl", "qwen3_vl")
METHODS = {
    "vidcom2": VidCom2,
    "vcast": VCast,
    "flashvid": FlashVID,
    "flashvid, v2": lambda ratio, **more: FlashVID(ratio, version="v2", min_segments=8, **more),
    "flashvid, true mean": lambda ratio, **more: FlashVID(ratio, true_mean=True, **more),
    "flashvid, distinct": lambda ratio, **more: FlashVID(
        ratio, true_mean=True, repeat_positions=False, **more
    ),
} | {
    f"fastvid, {form}": lambda ratio, form=form, **more: FastVID(ratio, variant=form, **more)
    for form in FASTVID
}
PRUNES = ("vidcom2", "vcast")
REPEATS = ("flashvid", "flashvid, v2", "flashvid, true mean")  # in segments of one frame
DIVIDES_BY_CHILDREN = ("flashvid", "flashvid, v2")  # so their weights do not sum to one
RATIOS = (0.05, 0.15, 0.25, 0.5, 1.0)
GRIDS = ((8, 5, 7), (12, 3, 3), (6, 1, 1), (1, 6, 6), (2, 3, 5), (1, 1, 1))
DTYPES = (torch.float32, torch.bfloat16)


def video(grid, dtype=torch.float32, still=False, seed=3):
    units, rows, columns = grid
    features = 0.3 * torch.from_numpy(video_features(seed, units, rows, columns, 24)).flatten(0, 1)
    if still:
        features = features[: rows * columns].repeat(units, 1)
    saliency = torch.rand(len(features), generator=torch.Generator().manual_seed(seed))
    return VideoTokens(features.to(dtype), grid, saliency=saliency)


def row_sums(record):
    """float32 [K]: the sum of the weights in every row, by asking the record itself."""
    return record.apply(torch.ones(record.num_tokens, 1)).squeeze(1)


def assert_a_record(record, label):
    keep, group = record.keep, record.group
    assert torch.equal(keep, keep.sort().values)
    assert keep.min() >= 0 and keep.max() < record.num_tokens
    if label not in REPEATS:
        assert torch.equal(keep, keep.unique())
        if not label.startswith("fastvid"):  # a centre may weigh more in another anchor's row
            assert torch.equal(group[keep], torch.arange(len(keep)))
    assert group.min() >= -1 and group.max() < len(keep)
    assert ((record.weight > 0) == (group >= 0)).all()
    if label in DIVIDES_BY_CHILDREN:
        assert (row_sums(record) > 0).all()
    else:
        torch.testing.assert_close(row_sums(record), torch.ones(len(keep)), rtol=0, atol=1e-5)
    if label in PRUNES:
        assert not record.merges


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("label", METHODS)
def test_budget_is_met_to_the_token(label, ratio, grid, dtype):
    tokens, method = video(grid, dtype), METHODS[label](ratio)
    before = tokens.features.clone(), tokens.saliency.clone()
    record = method.compress(tokens)
    assert record.num_kept == method.budget(tokens) == int(record.budgets.sum())
    assert_a_record(record, label)
    again = method.compress(tokens)
    assert torch.equal(record.keep, again.keep) and torch.equal(record.weight, again.weight)
    assert torch.equal(tokens.features, before[0]) and torch.equal(tokens.saliency, before[1])
    assert torch.isfinite(record.apply(tokens.features)).all()
    if ratio == 1.0:
        assert not record.merges
        assert torch.equal(record.apply(tokens.features), tokens.features)


@pytest.mark.parametrize("grid", [(8, 4, 5), (3, 1, 1), (1, 4, 5)], ids=str)
@pytest.mark.parametrize("ratio", [0.05, 0.4, 0.95])
@pytest.mark.parametrize("label", METHODS)
def test_a_still_video_meets_its_budget_too(label, ratio, grid):
    tokens, method = video(grid, still=True), METHODS[label](ratio)
    record = method.compress(tokens)
    assert record.num_kept == method.budget(tokens)
    assert_a_record(record, label)


@pytest.mark.parametrize("label", METHODS)
def test_a_blank_video_meets_its_budget_too(label):
    tokens = VideoTokens(torch.zeros(60, 8), (5, 3, 4), saliency=torch.zeros(60))
    record = METHODS[label](0.3).compress(tokens)
    assert record.num_kept == 18
    assert not record.apply(tokens.features).any()


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("ratio", [0.01, 0.15, 0.5, 1.0])
@pytest.mark.parametrize("label", METHODS)
def test_the_authors_mode_is_sensible_where_their_code_fails(label, ratio, grid):
    tokens = video(grid)
    record = METHODS[label](ratio, exact=False).compress(tokens)
    assert 1 <= record.num_kept <= 1.25 * len(tokens) + grid[0]
    assert_a_record(record, label)


@pytest.mark.parametrize("label", METHODS)
def test_half_precision_selects_as_its_float32_copy_does(label):
    half = video((8, 5, 7), torch.bfloat16)
    copy = VideoTokens(half.features.float(), half.grid, saliency=half.saliency)
    one, two = (METHODS[label](0.3).compress(tokens) for tokens in (half, copy))
    assert torch.equal(one.keep, two.keep) and torch.equal(one.weight, two.weight)


@pytest.mark.parametrize("label", ["flashvid, true mean", "fastvid, qwen3_vl"])
def test_merging_equal_tokens_gives_that_token(label):
    tokens = VideoTokens(torch.full((160, 8), 0.7), (8, 4, 5), saliency=torch.rand(160))
    out = METHODS[label](0.25).compress(tokens).apply(tokens.features)
    torch.testing.assert_close(out, torch.full_like(out, 0.7))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_features_that_are_not_finite_are_refused(bad):
    features = video((2, 3, 3)).features.clone()
    features[4, 1] = bad
    with pytest.raises(ValueError, match="NaN or infinite"):
        VideoTokens(features, (2, 3, 3))


@pytest.mark.parametrize("method", [FlashVID(), FastVID(variant="llava_video"), FlashVIDPrune()])
def test_a_missing_signal_is_named(method):
    tokens = VideoTokens(torch.ones(8, 4), (2, 2, 2))
    with pytest.raises(ValueError, match=r"VideoTokens\.(saliency|attention)"):
        method.compress(tokens)


def test_the_qwen3_port_of_fastvid_needs_no_saliency():
    tokens = VideoTokens(video((8, 4, 4)).features, (8, 4, 4))
    assert FastVID(0.25).compress(tokens).num_kept == 32


def attention_rows(stage, left, _previous):
    generator = torch.Generator().manual_seed(stage)
    return torch.softmax(torch.randn(4, 1, len(left), generator=generator), dim=-1)


@pytest.mark.parametrize("num_layers", [4, 28, 36])
@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("ratio", RATIOS)
def test_the_average_over_the_layers_is_the_ratio(ratio, grid, num_layers):
    method = FlashVID(ratio, inner=True).at_depth(num_layers)
    tokens = video(grid)
    result = pass_through(method, tokens, num_layers, attention_rows)
    wanted = ratio * len(tokens) * num_layers
    if min(result.rows_per_layer) > 1:
        assert wanted - num_layers < sum(result.rows_per_layer) <= wanted + 1e-6
    assert torch.equal(result.record.keep, result.record.keep.sort().values)
    if ratio == 1.0:
        assert torch.equal(result.hidden, tokens.features)


def test_published_stages_average_to_the_ratio_in_the_authors_mode():
    """E * (K + (L - K) * r) / L = 1 for both published pairs of layer and share."""
    for layer, share, depth in ((20, 0.3, 28), (28, 0.1, 36)):
        method = FlashVID(
            0.25,
            inner=True,
            layer=layer,
            inner_retention=share,
            num_layers=depth,
            exact=False,
        )
        result = pass_through(method, video((8, 5, 8)), depth, attention_rows)
        assert result.average == pytest.approx(0.25, abs=0.02)


def test_both_stages_make_the_same_chain():
    vision, prune = FlashVID(0.25, inner=True).stages
    chain = Chain("flashvid", (vision, prune))
    assert chain.needs == {"saliency"} and [layer for layer, _ in chain.stages] == [0, 20]
    assert FlashVID(0.25).stages == ((0, FlashVID(0.25)),)
    assert prune[1].retention_ratio == 0.25 and prune[1].queries == "last"


def test_a_frame_that_turns_gets_more_than_a_steady_one():
    """V-CAST: curvature peaks where the direction of change does."""
    steps = torch.tensor([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 1.0], [2.0, 2.0]])
    means = torch.cat([torch.ones(5, 1) * 20.0, steps], dim=1)
    features = means.repeat_interleave(20, dim=0)
    record = VCast(0.3).compress(VideoTokens(features, (5, 4, 5)))
    curvature = record.trace["curvature"]
    assert curvature[2] > 0.9 and curvature[1] < 0.1 and curvature[3] < 0.1
    assert record.budgets[2] > record.budgets[1] and record.budgets[2] > record.budgets[3]


def test_a_frame_unlike_the_video_gets_more():
    """VidCom2: uniqueness shifts tokens to the odd frame out."""
    generator = torch.Generator().manual_seed(0)
    features = 2.0 + torch.randn(6, 20, 16, generator=generator) * 0.3
    features[4] = -features[4]
    record = VidCom2(0.25).compress(VideoTokens(features.flatten(0, 1), (6, 4, 5)))
    assert int(record.budgets.argmax()) == 4
