"""Saturated units as reported by records."""

import json

import pytest
import torch

from gleanvid.compressors import COMPRESSORS, Ablation, GleanVID
from gleanvid.metrics import Saturation, saturation
from gleanvid.types import VideoTokens


def still(width=64):
    """Four times the same unit."""
    unit = torch.randn(12, width, generator=torch.Generator().manual_seed(0))
    return VideoTokens(unit.repeat(4, 1), (4, 3, 4))


def test_a_still_clip_has_nothing_new_once_a_unit_was_kept_whole():
    found = saturation(GleanVID(0.5).compress(still()))
    assert found.units in (2, 3) and found.of == 4
    assert str(found).startswith(f"{found.units} of 4 units had nothing new to add")


def test_unsaturated_clip_has_no_remark():
    clip = VideoTokens(torch.randn(48, 64, generator=torch.Generator().manual_seed(0)), (4, 3, 4))
    assert saturation(GleanVID(0.25).compress(clip)) == Saturation(0, 4)
    assert not str(Saturation(0, 4))


@pytest.mark.parametrize("name", ["uniform", "vidcom2", "full"])
def test_methods_without_complements_report_nothing(name):
    assert saturation(COMPRESSORS[name]().compress(still())) is None


@pytest.mark.parametrize("selection", ["lrs", "scs", "vcast", "random"])
def test_variants_with_other_scores_report_nothing(selection):
    assert saturation(Ablation(0.5, selection=selection).compress(still())) is None


def test_the_trace_is_ready_for_json():
    trace = GleanVID(0.9).compress(still()).trace
    told = json.loads(json.dumps({name: value.tolist() for name, value in trace.items()}))
    assert told["budget_over_width"] == pytest.approx(43 / 64)
    assert told["saturated"] == [False, True, True, True]
