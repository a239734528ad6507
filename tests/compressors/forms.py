"""Variants ("forms") of every method, synthetic videos, and checks of compression records.

``test_contract.py`` and ``test_contract_inside.py`` test the invariants of every form.
"""

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch

from gleanvid.compressors.aot import AOT
from gleanvid.compressors.base import Compressor
from gleanvid.compressors.cdpruner import CDPruner
from gleanvid.compressors.divprune import DivPrune
from gleanvid.compressors.dycoke import DyCoke
from gleanvid.compressors.evs import EVS
from gleanvid.compressors.fastv import FastV
from gleanvid.compressors.fastvid import FastVID
from gleanvid.compressors.flashvid import FlashVID
from gleanvid.compressors.floc import FLoC
from gleanvid.compressors.framefusion import FrameFusion
from gleanvid.compressors.frames import FewerFrames
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.gleanvid.ablation import Ablation
from gleanvid.compressors.gleanvid.soft import SoftGleanVID
from gleanvid.compressors.holitom import HoliTom
from gleanvid.compressors.pairwise_gain import PairwiseGain
from gleanvid.compressors.pool import Pool
from gleanvid.compressors.prunevid import PruneVid
from gleanvid.compressors.random import Random
from gleanvid.compressors.resize import Resize
from gleanvid.compressors.sparsevlm import SparseVLM
from gleanvid.compressors.sttm import STTM
from gleanvid.compressors.uniform import Uniform
from gleanvid.compressors.vcast import VCast
from gleanvid.compressors.vidcom2 import VidCom2
from gleanvid.compressors.visionzip import VisionZip
from gleanvid.types import VideoTokens
from tests.golden.inputs import video_features


@dataclass(frozen=True)
class Form:
    """A variant of a method: its settings, and what its compression records may contain."""

    method: type[Compressor]
    settings: Mapping[str, Any] = field(default_factory=dict)
    prunes: bool = False  # the method never merges
    repeats: bool = False  # two output tokens may have the same index
    own_row: bool = True  # a kept token weighs most in the output token at its index
    # sum of an output token's weights. "one": 1; "two": 2 if merged, else 1; "positive": above 0
    weights: str = "one"

    def __call__(self, ratio: float, **more: Any) -> Compressor:
        return self.method(ratio, **self.settings, **more)


_TREES: dict[str, Any] = {"repeats": True, "own_row": False, "weights": "positive"}
_MEANS: dict[str, Any] = {"repeats": True, "own_row": False}
_DISTINCT = {"true_mean": True, "repeat_positions": False}
AHEAD = {
    "gleanvid": Form(GleanVID, prunes=True),
    "gleanvid_soft": Form(SoftGleanVID, prunes=True),
    "ablation": Form(Ablation, prunes=True),
    "uniform": Form(Uniform, prunes=True),
    "random": Form(Random, prunes=True),
    "vidcom2": Form(VidCom2, prunes=True),
    "vcast": Form(VCast, prunes=True),
    "flashvid": Form(FlashVID, **_TREES),
    "flashvid, v2": Form(FlashVID, {"version": "v2", "min_segments": 8}, **_TREES),
    "flashvid, true mean": Form(FlashVID, {"true_mean": True}, **_MEANS),
    "flashvid, distinct": Form(FlashVID, _DISTINCT),
    # own_row=False: an anchor may have its largest weight in the output token of another anchor
    "fastvid, llava_onevision": Form(FastVID, {"variant": "llava_onevision"}, own_row=False),
    "fastvid, llava_video": Form(FastVID, {"variant": "llava_video"}, own_row=False),
    "fastvid, qwen2_5_vl": Form(FastVID, {"variant": "qwen2_5_vl"}, own_row=False),
    "fastvid, qwen3_vl": Form(FastVID, {"variant": "qwen3_vl"}, own_row=False),
    "visionzip": Form(VisionZip, weights="two"),
    "visionzip, true mean": Form(VisionZip, {"true_mean": True}),
    "visionzip, cls": Form(VisionZip, {"variant": "cls"}, weights="two"),
    "visionzip, qwen3_port": Form(VisionZip, {"variant": "qwen3_port"}),
    "holitom": Form(HoliTom),
    "prunevid": Form(PruneVid),
    "dycoke": Form(DyCoke, prunes=True),
    "evs": Form(EVS, prunes=True),
    "divprune": Form(DivPrune, prunes=True),
    "sttm": Form(STTM),
    "floc": Form(FLoC, prunes=True),
    "aot": Form(AOT, **_MEANS),
    "aot, one clip": Form(AOT, {"clips": 1, "residual": 1.0}, **_MEANS),
    "pairwise_gain": Form(PairwiseGain, prunes=True),
    "cdpruner": Form(CDPruner, prunes=True),
    "cdpruner, theta": Form(CDPruner, {"theta": 0.5}, prunes=True),
    "frames": Form(FewerFrames, prunes=True),
    "resize": Form(Resize),
    "pool": Form(Pool),
    "pool, three units": Form(Pool, {"units": 3}),
}
INSIDE = {
    "fastv": Form(FastV, prunes=True),
    "sparsevlm": Form(SparseVLM),
    "framefusion": Form(FrameFusion),
    "holitom, inner": Form(HoliTom, {"inner": True}),
    "sttm, inside": Form(STTM, {"layer": 2}),
    "prunevid, inner": Form(PruneVid, {"inner": True}),
    "flashvid, inner": Form(FlashVID, {"inner": True}, **_TREES),
}
# one variant of each method
ONE_EACH = list({form.method: label for label, form in reversed(AHEAD.items())}.values())
GRIDS = ((8, 6, 6), (9, 5, 7))


@dataclass(frozen=True)
class Case:
    ratio: float
    grid: tuple[int, int, int]
    still: bool = False


def noise(grid, width=24, seed=0):
    """Return tokens of white noise with all vision signals."""
    generator = torch.Generator().manual_seed(seed)
    count = grid[0] * grid[1] * grid[2]
    features = torch.randn(count, width, generator=generator)
    saliency = torch.rand(count, generator=generator)
    keys = torch.randn(count, 8, generator=generator)
    text = torch.randn(5, width, generator=generator)
    return VideoTokens(features, grid, saliency=saliency, keys=keys, text=text)


def video(grid, still=False, seed=3):
    units, rows, columns = grid
    features = 0.3 * torch.from_numpy(video_features(seed, units, rows, columns, 24)).flatten(0, 1)
    if still:
        features = features[: rows * columns].repeat(units, 1)
    generator = torch.Generator().manual_seed(seed)
    return VideoTokens(
        features,
        grid,
        saliency=torch.rand(len(features), generator=generator),
        keys=torch.randn(len(features), 8, generator=generator),
        text=torch.randn(5, 24, generator=generator),
    )


@cache
def video_of(case):
    return video(case.grid, case.still)


@contextmanager
def named(case):
    try:
        yield
    except Exception as error:
        error.add_note(f"in {case}")
        raise


def below_floor(compressor, grid):
    """Whether the budget is smaller than the temporal units that a method always keeps whole.

    The method refuses such a budget. DyCoke keeps units 0, 4, 8, ... and the last unit with an even
    number; EVS keeps the first unit.
    """
    units, per_unit = grid[0], grid[1] * grid[2]
    whole = {"dycoke": sum(t % 4 == 0 or t >= units - 2 for t in range(0, units, 2)), "evs": 1}.get(
        compressor.name, 0
    )
    return max(1, int(compressor.retention_ratio * units * per_unit + 1e-9)) < whole * per_unit


def assert_sound(record, form):
    """Check a compression record: ascending kept tokens, valid groups, sums of the weights."""
    keep, group, count = record.keep, record.group, record.num_kept
    assert torch.equal(keep, keep.sort().values)
    assert keep.min() >= 0 and keep.max() < record.num_tokens
    assert form.repeats or torch.equal(keep, keep.unique())
    assert not form.own_row or torch.equal(group[keep], torch.arange(count))
    assert group.min() >= -1 and group.max() < count
    assert ((record.weight > 0) == (group >= 0)).all()
    sums = record.apply(torch.ones(record.num_tokens, 1)).squeeze(1)
    if form.weights == "positive":
        assert (sums > 0).all()
        return
    expected = torch.ones(count)
    if form.weights == "two":  # merged: the anchor plus the mean of its group
        expected += torch.bincount(group[group >= 0], minlength=count) > 1
    torch.testing.assert_close(sums, expected, rtol=0, atol=1e-5)
    assert not (form.prunes and record.merges)
