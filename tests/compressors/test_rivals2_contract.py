"""Laws of VisionZip, HoliTom, PruneVid, DyCoke, FastV, SparseVLM, FrameFusion and PairwiseGain."""

from itertools import pairwise, product

import pytest
import torch

from gleanvid.compressors.dycoke import DyCoke
from gleanvid.compressors.fastv import FastV
from gleanvid.compressors.framefusion import FrameFusion
from gleanvid.compressors.holitom import HoliTom
from gleanvid.compressors.pairwise_gain import PairwiseGain
from gleanvid.compressors.prunevid import PruneVid
from gleanvid.compressors.sparsevlm import SparseVLM
from gleanvid.compressors.visionzip import VisionZip
from gleanvid.types import VideoTokens
from tests.compressors.identity_layers import pass_through
from tests.golden.inputs import video_features

AHEAD = {
    "visionzip": lambda ratio: VisionZip(ratio),
    "visionzip, true mean": lambda ratio: VisionZip(ratio, true_mean=True),
    "visionzip, cls": lambda ratio: VisionZip(ratio, variant="cls"),
    "visionzip, qwen3_port": lambda ratio: VisionZip(ratio, variant="qwen3_port"),
    "holitom": lambda ratio: HoliTom(ratio),
    "prunevid": lambda ratio: PruneVid(ratio),
    "dycoke": lambda ratio: DyCoke(ratio),
    "pairwise_gain": lambda ratio: PairwiseGain(ratio),
}
INSIDE = {
    "fastv": lambda ratio: FastV(ratio),
    "sparsevlm": lambda ratio: SparseVLM(ratio),
    "framefusion": lambda ratio: FrameFusion(ratio),
    "holitom, inner": lambda ratio: HoliTom(ratio, inner=True),
    "prunevid, inner": lambda ratio: PruneVid(ratio, inner=True),
}
RATIOS = (0.05, 0.15, 0.25, 0.5, 1.0)
GRIDS = ((8, 6, 6), (9, 5, 7), (16, 4, 4), (6, 1, 1), (1, 6, 6), (2, 3, 5), (1, 1, 1))
VIDEOS = [(grid, torch.float32) for grid in GRIDS] + [
    (GRIDS[0], torch.bfloat16),
    (GRIDS[1], torch.float16),
]
SUM_OF_TWO = ("visionzip", "visionzip, cls")  # anchor + mean of members, by definition


def video(grid, dtype=torch.float32, still=False, seed=3):
    units, rows, columns = grid
    features = torch.from_numpy(video_features(seed, units, rows, columns, 24)).flatten(0, 1)
    if still:
        features = features[: rows * columns].repeat(units, 1)
    generator = torch.Generator().manual_seed(seed)
    return VideoTokens(
        features.to(dtype),
        grid,
        saliency=torch.rand(len(features), generator=generator),
        keys=torch.randn(len(features), 8, generator=generator),
        text=torch.randn(5, 24, generator=generator).to(dtype),
    )


def attention_rows(stage, left, _previous):
    generator = torch.Generator().manual_seed(100 + stage)
    logits = torch.randn(4, 5, int(left.max()) + 1, generator=generator)
    return torch.softmax(2.0 * logits, dim=-1)[..., left]


def assert_a_record(record, sum_of_two=False):
    keep = record.keep
    assert torch.equal(keep, keep.unique()) and keep.min() >= 0 and keep.max() < record.num_tokens
    assert torch.equal(record.group[keep], torch.arange(len(keep)))  # a row holds its own token
    sums = torch.zeros(len(keep)).index_add_(
        0, record.group.clamp(min=0), torch.where(record.group >= 0, record.weight, 0.0)
    )
    sizes = torch.bincount(record.group[record.group >= 0], minlength=len(keep))
    expected = torch.where(sizes > 1, 2.0, 1.0) if sum_of_two else torch.ones(len(keep))
    torch.testing.assert_close(sums, expected, rtol=0, atol=1e-5)
    assert (record.weight[record.group < 0] == 0).all()


@pytest.mark.parametrize(("grid", "dtype"), VIDEOS, ids=str)
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("label", AHEAD)
def test_budget_is_met_to_the_token_or_refused(label, ratio, grid, dtype):
    tokens, compressor = video(grid, dtype), AHEAD[label](ratio)
    before = [getattr(tokens, name).clone() for name in ("features", "saliency", "keys", "text")]
    if label == "dycoke" and compressor.budget(tokens) < dycoke_floor(grid[0]) * len(tokens) - 0.5:
        with pytest.raises(ValueError, match=r"out of reach for DyCoke: .* whole are 0|1\.\d+"):
            compressor.compress(tokens)
        return
    record = compressor.compress(tokens)
    assert record.num_kept == compressor.budget(tokens) == int(record.budgets.sum())
    assert_a_record(record, label in SUM_OF_TWO)
    again = compressor.compress(tokens)
    assert torch.equal(record.keep, again.keep) and torch.equal(record.weight, again.weight)
    after = [getattr(tokens, name) for name in ("features", "saliency", "keys", "text")]
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert torch.isfinite(record.apply(tokens.features)).all()
    if ratio == 1.0:
        assert not record.merges
        assert torch.equal(record.apply(tokens.features), tokens.features)


def dycoke_floor(units):
    """Share of the frames that DyCoke keeps whole: 0, 4, 8, ... and the last even one or two."""
    whole = [t for t in range(0, units, 2) if t % 4 == 0 or t - 2 >= units - 4]
    return len(whole) / units


@pytest.mark.parametrize("label", [label for label in AHEAD if label != "dycoke"])
@pytest.mark.parametrize("ratio", RATIOS)
def test_a_still_video_meets_its_budget_too(label, ratio):
    tokens = video((8, 4, 5), still=True)
    record = AHEAD[label](ratio).compress(tokens)
    assert record.num_kept == AHEAD[label](ratio).budget(tokens)
    assert_a_record(record, label in SUM_OF_TWO)


@pytest.mark.parametrize("label", ["holitom", "prunevid", "visionzip, true mean"])
def test_merging_equal_tokens_gives_that_token(label):
    tokens = video((8, 4, 5))
    same = VideoTokens(
        torch.ones(len(tokens), 24), tokens.grid, saliency=tokens.saliency, keys=tokens.keys
    )
    out = AHEAD[label](0.25).compress(same).apply(same.features)
    torch.testing.assert_close(out, torch.ones_like(out))


def passage(label, ratio, grid, num_layers, dtype=torch.float32, still=False):
    compressor = INSIDE[label](ratio).at_depth(num_layers)
    return pass_through(compressor, video(grid, dtype, still), num_layers, attention_rows)


def out_of_reach(label, ratio, grid, num_layers):
    """Whether what the layers see before the first cut, or must after it, is too much already."""
    total, wanted = grid[0] * grid[1] * grid[2], ratio * num_layers
    if total == 1:
        return False
    if label == "fastv":
        return wanted <= (2 if num_layers >= 28 else 1)
    if label == "sparsevlm":
        layers = [3, 7, 16, num_layers] if num_layers >= 28 else [1, 2, num_layers]
        rows, spent = total, total * layers[0]
        for before, after in pairwise(layers):
            pool = int(0.3 * (rows - 1)) + 1
            rows = 1 + pool // 10 + 1 if rows > 1 else rows
            spent += rows * (after - before)
        return spent > wanted * total
    if label == "framefusion":  # merging at the input is all that is possible before layer 0
        kept = FrameFusion(ratio, exact=False).compress(video(grid)).num_kept
        one_frame = grid[1] * grid[2]
        return max(1, int(ratio * total)) < one_frame and kept + num_layers - 1 > wanted * total
    return False


@pytest.mark.parametrize(
    ("grid", "num_layers"), [(GRIDS[0], 36), *product(GRIDS, (4, 28))], ids=str
)
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("label", INSIDE)
def test_average_over_the_layers_is_the_ratio_or_it_is_refused(label, ratio, grid, num_layers):
    total = grid[0] * grid[1] * grid[2]
    if out_of_reach(label, ratio, grid, num_layers):
        with pytest.raises(ValueError, match=rf"retention_ratio={ratio!r} is out of reach for"):
            passage(label, ratio, grid, num_layers)
        return
    result = passage(label, ratio, grid, num_layers)
    for record in result.by_layer.values():
        assert_a_record(record)
    wanted, one_token = ratio * total * num_layers, num_layers
    if min(result.rows_per_layer) > 1:
        assert sum(result.rows_per_layer) <= wanted + 1e-6
    slack = 3 if label == "sparsevlm" else 1  # recycled rows come in steps
    assert sum(result.rows_per_layer) > wanted - slack * one_token
    if ratio == 1.0:
        assert not result.record.merges
        assert torch.equal(result.hidden, video(grid).features)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("label", INSIDE)
def test_stages_take_half_precision_and_decide_the_same_twice(label, dtype):
    one, two = (passage(label, 0.25, (8, 6, 6), 28, dtype) for _ in range(2))
    assert one.hidden.dtype == dtype
    assert torch.equal(one.record.keep, two.record.keep)
    assert one.average == pytest.approx(0.25, abs=1 / 288)


@pytest.mark.parametrize("label", INSIDE)
def test_a_still_video_inside_the_model(label):
    result = passage(label, 0.25, (8, 4, 5), 28, still=True)
    assert result.average == pytest.approx(0.25, abs=3 / 160)


@pytest.mark.parametrize(
    ("label", "floor"), [("fastv", 2 / 28), ("sparsevlm", 3 / 28)], ids=["fastv", "sparsevlm"]
)
def test_a_ratio_below_the_untouched_layers_is_refused_by_name(label, floor):
    with pytest.raises(ValueError, match=rf"retention_ratio=0\.05 is out of reach.*{floor:.2f}"):
        passage(label, 0.05, (8, 6, 6), 28)


@pytest.mark.parametrize(
    ("compressor", "signal"),
    [
        (VisionZip(), "saliency"),
        (VisionZip(variant="qwen3_port"), "saliency"),
        (HoliTom(), "saliency"),
        (SparseVLM(), "text"),
        (FastV(), "attention"),
    ],
)
def test_a_missing_signal_is_named(compressor, signal):
    tokens = VideoTokens(torch.ones(8, 4), (2, 2, 2))
    with pytest.raises(ValueError, match=rf"VideoTokens\.{signal}"):
        compressor.compress(tokens)


def test_stages_scale_with_the_depth_of_the_model():
    def layers(method, depth):
        return [layer for layer, _ in method.at_depth(depth).stages]

    for depth in (28, 32, 36):
        assert layers(FastV(), depth) == [2]
        assert layers(SparseVLM(), depth) == [0, 3, 7, 16]
        assert layers(PruneVid(inner=True), depth) == [0, 10]
        assert layers(HoliTom(inner=True), depth) == [0, 18]
    assert layers(HoliTom(inner=True), 14) == [0, 9]
    assert layers(SparseVLM(), 72) == [0, 6, 14, 32]
    assert layers(SparseVLM(), 4) == [0, 1, 2]
    assert layers(FastV(), 2) == [1]
    assert HoliTom(inner=True).at_depth(14).at_depth(14).at_depth(28).layer == 18
    assert HoliTom().stages == ((0, HoliTom()),)


def test_the_published_splits_of_sparsevlm_are_found_by_bisection():
    """Scale s of (300, 200, 110)/576 for 25 % and 15 % at 28 and 36 layers."""
    from gleanvid.compressors.sparsevlm import keep_counts

    expected = {(28, 0.25): 0.513, (28, 0.15): 0.142, (36, 0.25): 0.645, (36, 0.15): 0.249}
    for (depth, ratio), scale in expected.items():
        counts = keep_counts(6272, ratio, depth, exact=True)
        for layer, base in ((3, 300), (7, 200), (16, 110)):
            assert counts[layer] == pytest.approx(6272 * scale * base / 576, rel=0.01)


def test_prunevid_selection_refuses_a_foreign_first_stage():
    stage = PruneVid(inner=True).stages[1][1]
    tokens = VideoTokens(torch.ones(8, 4), (2, 2, 2), attention=torch.full((2, 3, 8), 0.1))
    with pytest.raises(ValueError, match="its own stage 1"):
        stage.compress(tokens)
