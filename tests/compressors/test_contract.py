"""Rules that every method before the language model obeys, for all variants and ratios."""

from contextlib import nullcontext

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gleanvid.compressors import COMPRESSORS, contract
from gleanvid.compressors.cdpruner import CDPruner
from gleanvid.compressors.contract import check_record, first_error
from gleanvid.compressors.dycoke import DyCoke
from gleanvid.compressors.evs import EVS
from gleanvid.compressors.fastv import FastV
from gleanvid.compressors.fastvid import FastVID
from gleanvid.compressors.flashvid import FlashVID, FlashVIDPrune
from gleanvid.compressors.holitom import HoliTom
from gleanvid.compressors.sparsevlm import SparseVLM
from gleanvid.compressors.visionzip import VisionZip
from gleanvid.types import VideoTokens
from tests.compressors.forms import (
    AHEAD,
    GRIDS,
    Case,
    assert_sound,
    below_floor,
    named,
    noise,
    video_of,
)

CASES = [
    *(Case(ratio, grid) for ratio in (0.15, 0.5) for grid in GRIDS),
    *(Case(0.4, grid, still=True) for grid in ((8, 4, 5), (3, 1, 1))),
]
PAPERS = ("vidcom2", "vcast", "flashvid", "fastvid", "divprune")
# variants that keep the number of tokens given by the ratio also in the authors' mode (exact=False)
BY_RATIO = [name for name in AHEAD if name.partition(",")[0] in PAPERS]
ODD = ((8, 6, 6), (6, 1, 1), (1, 6, 6), (1, 1, 1))
ANY_GRID = st.tuples(st.integers(1, 6), st.integers(1, 7), st.integers(1, 7))
ANY_RATIO = st.floats(0.01, 1.0)
every_form = pytest.mark.parametrize("label", AHEAD)


def test_contract_cases_cover_every_compressor_that_acts_before_the_language_model():
    inside = {"full", "fastv", "sparsevlm", "framefusion"}
    assert {form.method for form in AHEAD.values()} == {
        method for name, method in COMPRESSORS.items() if name not in inside
    }


@every_form
def test_record_is_valid_and_meets_the_budget(label):
    for case in CASES:
        compressor, tokens = AHEAD[label](case.ratio), video_of(case)
        if below_floor(compressor, case.grid):
            continue
        with named(case):
            record = compressor.compress(tokens)
            assert_sound(record, AHEAD[label])
            check_record(record, tokens, compressor.merges)
            assert record.num_kept == int(record.budgets.sum()) == compressor.budget(tokens)
            assert torch.isfinite(record.apply(tokens.features)).all()


@every_form
@settings(max_examples=10)
@given(grid=ANY_GRID, ratio=ANY_RATIO, seed=st.integers(0, 9))
def test_record_is_valid_and_meets_the_budget_on_noise(label, grid, ratio, seed):
    tokens, compressor = noise(grid, seed=seed), AHEAD[label](ratio)
    assume(not below_floor(compressor, grid))
    record = compressor.compress(tokens)
    assert_sound(record, AHEAD[label])
    assert record.num_kept == compressor.budget(tokens) == int(record.budgets.sum())


@every_form
def test_every_compressor_variant_passes_every_contract_check(label, monkeypatch):
    monkeypatch.setattr(contract, "GRIDS", (contract.LARGEST, (1, 4, 4)))
    monkeypatch.setattr(contract, "RATIOS", (0.25, 0.6))
    for check in contract.CHECKS:
        assert first_error(check, AHEAD[label]) == (None, ""), check.__name__


@pytest.mark.parametrize("method", [DyCoke, EVS])
@given(grid=ANY_GRID, ratio=ANY_RATIO)
def test_ratio_is_refused_only_if_the_units_kept_whole_exceed_the_budget(method, grid, ratio):
    compressor = method(ratio)
    refusal = pytest.raises(
        ValueError, match=rf"out of reach for {method.title}: .* (0\.\d+|1\.0+) of this video"
    )
    with refusal if below_floor(compressor, grid) else nullcontext():
        compressor.compress(noise(grid))


@pytest.mark.parametrize("label", BY_RATIO)
def test_authors_mode_handles_inputs_on_which_the_original_code_fails(label):
    for case in (Case(ratio, grid) for grid in ODD for ratio in (0.01, 0.5, 1.0)):
        with named(case):
            tokens = video_of(case)
            record = AHEAD[label](case.ratio, exact=False).compress(tokens)
            assert 1 <= record.num_kept <= 1.25 * len(tokens) + tokens.num_units
            assert_sound(record, AHEAD[label])


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_features_that_are_not_finite_are_refused(bad):
    features = torch.zeros(8, 4)
    features[5, 2] = bad
    with pytest.raises(ValueError, match="NaN or infinite"):
        VideoTokens(features, (2, 2, 2))


def test_full_tokens_keeps_all_and_accepts_only_ratio_1():
    assert COMPRESSORS["full"]().compress(noise((2, 2, 2))).num_kept == 8
    with pytest.raises(ValueError, match=r"retention_ratio=0\.5"):
        COMPRESSORS["full"](retention_ratio=0.5)


@pytest.mark.parametrize(
    ("compressor", "signal"),
    [
        (FlashVID(), "saliency"),
        (FlashVIDPrune(), "attention"),
        (FastVID(variant="llava_video"), "saliency"),
        (VisionZip(), "saliency"),
        (VisionZip(variant="qwen3_port"), "saliency"),
        (HoliTom(), "saliency"),
        (CDPruner(), "text"),
        (SparseVLM(), "text"),
        (FastV(), "attention"),
    ],
)
def test_error_names_the_missing_signal_of_video_tokens(compressor, signal):
    tokens = VideoTokens(torch.ones(8, 4), (2, 2, 2))
    with pytest.raises(ValueError, match=rf"VideoTokens\.{signal}"):
        compressor.compress(tokens)
