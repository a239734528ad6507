"""Rules that every variant of a method obeys that compresses inside the language model."""

from functools import cache
from itertools import pairwise, product

import pytest
import torch

from gleanvid.compressors.fastv import FastV
from gleanvid.compressors.flashvid import FlashVID
from gleanvid.compressors.framefusion import FrameFusion
from gleanvid.compressors.holitom import HoliTom
from gleanvid.compressors.prunevid import PruneVid
from gleanvid.compressors.sparsevlm import SparseVLM, keep_counts
from tests.compressors.forms import GRIDS, INSIDE, Case, assert_sound, named, video_of
from tests.compressors.identity_layers import pass_through

RATIOS = (0.05, 0.25, 1.0)
PASSAGES = [
    (Case(ratio, grid), depth)
    for ratio, grid, depth in product(RATIOS, (*GRIDS, (2, 3, 5)), (4, 28))
]
every_form = pytest.mark.parametrize("label", INSIDE)


def attention_rows(stage, left, _previous):
    generator = torch.Generator().manual_seed(100 + stage)
    logits = torch.randn(4, 5, int(left.max()) + 1, generator=generator)
    return torch.softmax(2.0 * logits, dim=-1)[..., left]


def passage(label, case, num_layers=28):
    compressor = INSIDE[label](case.ratio).at_depth(num_layers)
    return pass_through(compressor, video_of(case), num_layers, attention_rows)


passed = cache(passage)


def exceeds_budget(label, case, num_layers):
    """Whether a method must refuse the ratio in a model of ``num_layers`` layers.

    True if the layers with all tokens use up the budget, or the fewest possible tokens exceed it.
    """
    units, rows, columns = case.grid
    total, wanted = units * rows * columns, case.ratio * num_layers
    if total == 1:
        return False
    if label in ("fastv", "sttm, inside"):
        return wanted <= (2 if num_layers >= 28 else 1)
    if label == "sparsevlm":
        layers = [3, 7, 16, num_layers] if num_layers >= 28 else [1, 2, num_layers]
        left, spent = total, total * layers[0]
        for before, after in pairwise(layers):
            pool = int(0.3 * (left - 1)) + 1
            left = 1 + pool // 10 + 1 if left > 1 else left
            spent += left * (after - before)
        return spent > wanted * total
    if label == "framefusion":  # before layer 0 there is no attention: tokens can only be merged
        kept = FrameFusion(case.ratio, exact=False).compress(video_of(case)).num_kept
        low = max(1, int(case.ratio * total)) < rows * columns
        return low and kept + num_layers - 1 > wanted * total
    return False


def within_reach(label):
    """Yield (case, number of layers, forward pass) for all cases that method ``label`` accepts."""
    for case, depth in PASSAGES:
        if not exceeds_budget(label, case, depth):
            with named((case, depth)):
                yield case, depth, passed(label, case, depth)


@every_form
def test_average_of_kept_tokens_over_the_layers_is_the_retention_ratio(label):
    # SparseVLM merges some dropped tokens into extra output tokens. Their number is rounded at
    # every stage, so the average is less exact.
    slack = 3 if label == "sparsevlm" else 1
    for case, depth, result in within_reach(label):
        wanted = case.ratio * result.record.num_tokens * depth
        if min(result.rows_per_layer) > 1:
            assert sum(result.rows_per_layer) <= wanted + 1e-6
        assert sum(result.rows_per_layer) > wanted - slack * depth


@every_form
def test_record_of_every_stage_inside_the_model_is_valid(label):
    for _, _, result in within_reach(label):
        for layer, record in result.by_layer.items():
            assert_sound(record, INSIDE[label if layer == 0 else "framefusion"])
        assert torch.equal(result.record.keep, result.record.keep.sort().values)


@every_form
def test_retention_ratio_1_inside_the_model_keeps_every_token(label):
    for case, _, result in within_reach(label):
        if case.ratio == 1.0:
            assert not result.record.merges
            assert torch.equal(result.hidden, video_of(case).features)


@pytest.mark.parametrize("label", ["fastv", "sparsevlm", "framefusion", "sttm, inside"])
def test_ratio_below_the_cost_of_the_uncompressed_first_layers_is_refused(label):
    refused = [(case, depth) for case, depth in PASSAGES if exceeds_budget(label, case, depth)]
    assert 0 < len(refused) < len(PASSAGES)
    for case, depth in refused:
        refusal = rf"retention_ratio={case.ratio!r} is out of reach for"
        with named((case, depth)), pytest.raises(ValueError, match=refusal):
            passage(label, case, depth)


@every_form
def test_stages_inside_the_model_meet_the_ratio_on_a_still_video(label):
    result = passage(label, Case(0.25, (8, 4, 5), still=True))
    assert result.average == pytest.approx(0.25, abs=3 / 160)


def test_flashvid_s_published_stages_average_to_the_retention_ratio():
    """FlashVID keeps the retention ratio on average over the L layers.

    Before the model it keeps E times the ratio (E is its expansion), and from layer K on a fraction
    r of these tokens. The average is the ratio if E * (K + (L - K) * r) / L = 1, which holds for
    both published pairs of K and r.
    """
    for layer, share, depth in ((20, 0.3, 28), (28, 0.1, 36)):
        stages = {"inner": True, "layer": layer, "inner_retention": share, "num_layers": depth}
        method = FlashVID(0.25, exact=False, **stages)
        tokens = video_of(Case(0.25, (8, 5, 8)))
        result = pass_through(method, tokens, depth, attention_rows)
        assert result.average == pytest.approx(0.25, abs=0.02)


def test_flashvid_compresses_inside_the_model_only_on_request():
    (first, vision), (layer, prune) = FlashVID(0.25, inner=True).stages
    assert (first, layer) == (0, 20) and vision.needs == {"saliency"}
    assert FlashVID(0.25).stages == ((0, FlashVID(0.25)),)
    assert prune.retention_ratio == 0.25 and prune.queries == "last"


def test_layers_at_which_tokens_are_dropped_scale_with_the_depth_of_the_model():
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


def test_sparsevlm_s_numbers_of_kept_tokens_are_its_published_ones_times_one_factor():
    """Its authors keep 300, 200 and 110 of 576 tokens; a bisection finds the factor ``scale``."""
    expected = {(28, 0.25): 0.513, (28, 0.15): 0.142, (36, 0.25): 0.645, (36, 0.15): 0.249}
    for (depth, ratio), scale in expected.items():
        counts = keep_counts(6272, ratio, depth, exact=True)
        for layer, base in ((3, 300), (7, 200), (16, 110)):
            assert counts[layer] == pytest.approx(6272 * scale * base / 576, rel=0.01)
