from types import SimpleNamespace

import pytest
import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.gleanvid.debiasing import DebiasedClip
from gleanvid.compressors.gleanvid.soft import SoftGleanVID
from gleanvid.types import VideoTokens


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("retention_ratio", 0.0),
        ("retention_ratio", 1.5),
        ("alpha_min", -0.1),
        ("alpha_max", 1.2),
        ("tau", 0.0),
        ("debias_rank", 1.5),
        ("local_neighborhood", True),
        ("tau", "4"),
    ],
)
def test_error_names_the_gleanvid_setting_that_is_out_of_range(setting, value):
    with pytest.raises(ValueError, match=rf"{setting}=.*must be in"):
        GleanVID(**{setting: value})


def test_alpha_bounds_must_be_in_order():
    with pytest.raises(ValueError, match=r"alpha_min=0\.7 must be at most alpha_max=0\.6"):
        GleanVID(alpha_min=0.7)
    for value in (None, "0.9"):
        with pytest.raises(ValueError, match=rf"alpha_max={value!r} must be in"):
            GleanVID(alpha_max=value)


def still_video(units=6, rows=4, columns=5, width=64):
    frame = torch.randn(rows * columns, width, generator=torch.Generator().manual_seed(3))
    return VideoTokens(frame.repeat(units, 1), (units, rows, columns))


def test_still_video_does_not_raise_the_basis_rank_once_kept_tokens_span_its_frame():
    tokens = still_video()
    compression = GleanVID(0.9).compress(tokens)
    assert compression.trace["basis_rank"].max() <= tokens.tokens_per_unit
    explained = compression.scores["scs"].view(6, 20)[2:]
    assert explained.max() < 0.6 * compression.scores["scs"].max()


def test_unit_with_new_content_gets_a_larger_budget():
    generator = torch.Generator().manual_seed(0)
    scenes = torch.randn(2, 16, 128, generator=generator)
    features = torch.cat([scenes[0]] * 5 + [scenes[1]] * 3)
    noisy = features + 0.05 * torch.randn(features.shape, generator=generator)
    budgets = GleanVID(0.3).compress(VideoTokens(noisy, (8, 4, 4))).budgets
    quiet = budgets[[1, 2, 3, 4, 6, 7]]
    assert budgets[5] > quiet.max()


@pytest.mark.parametrize("method", [GleanVID, SoftGleanVID])
def test_loop_over_units_causes_no_device_to_host_sync(method):
    """Fake tensors have no values. Code that runs on them reads none, so it causes no sync."""
    tokens = SimpleNamespace(grid=(5, 4, 4), num_units=5, tokens_per_unit=16)
    with FakeTensorMode():
        features, references = torch.empty(5, 16, 48), torch.empty(5, 5, 48)
        tokens.features = features.flatten(0, 1)
        parts = [torch.empty(shape) for shape in ((48,), (1, 48), (5, 16, 1), (5, 16), (5, 16))]
        clip = DebiasedClip(features, *parts, scale=1.0)
        # The basis gets 41 rows (without the last unit's): fewer than 48, so none are removed.
        budgets = [9, 0, 16, 16, 12]
        keep, scores, trace = method()._select(tokens, clip, references, budgets)
        with pytest.raises(DataDependentOutputException):
            bool(features.sum() > 0)  # sanity check: reading a value raises
    assert keep.shape == (53,) and scores["joint"].shape == (80,)
    assert all(trace[name].shape == (5,) for name in trace if name != "budget_over_width")
