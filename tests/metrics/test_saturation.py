import json

import pytest
import torch

from gleanvid.compressors import COMPRESSORS, GleanVID
from gleanvid.metrics import Saturation, saturation
from gleanvid.types import VideoTokens


def clip_of_equal_units(width=64):
    unit = torch.randn(12, width, generator=torch.Generator().manual_seed(0))
    return VideoTokens(unit.repeat(4, 1), (4, 3, 4))


def test_still_clip_is_saturated_once_a_unit_is_kept_completely():
    found = saturation(GleanVID(0.5).compress(clip_of_equal_units()))
    assert found.units in (2, 3) and found.of == 4
    assert str(found).startswith(f"{found.units} of 4 units had nothing new to add")


def test_clip_with_new_content_in_every_unit_gets_no_saturation_note():
    clip = VideoTokens(torch.randn(48, 64, generator=torch.Generator().manual_seed(0)), (4, 3, 4))
    assert saturation(GleanVID(0.25).compress(clip)) == Saturation(0, 4)
    assert not str(Saturation(0, 4))


@pytest.mark.parametrize("name", ["uniform", "vidcom2", "full"])
def test_saturation_is_none_for_methods_without_subspace_scores(name):
    assert saturation(COMPRESSORS[name]().compress(clip_of_equal_units())) is None


def test_saturation_of_units_in_gleanvid_s_trace_can_be_written_as_json():
    trace = GleanVID(0.9).compress(clip_of_equal_units()).trace
    told = json.loads(json.dumps({name: value.tolist() for name, value in trace.items()}))
    assert told["budget_over_width"] == pytest.approx(43 / 64)
    assert told["saturated"] == [False, True, True, True]
