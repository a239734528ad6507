"""A compressor decides the same whatever settings of torch its caller has turned on."""

from contextlib import contextmanager

import pytest
import torch

from tests.compressors.forms import AHEAD, video


@contextmanager
def default_dtype(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


SETTINGS = {
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "inference": torch.inference_mode,
    "default_device": lambda: torch.device("meta"),
    "default_float64": lambda: default_dtype(torch.float64),
    "default_bfloat16": lambda: default_dtype(torch.bfloat16),
}


@pytest.mark.parametrize("label", AHEAD)
def test_settings_of_the_callers_torch_change_no_record(label):
    tokens = video((8, 6, 6))
    compressor = AHEAD[label](0.5)
    plain = compressor.compress(tokens)
    features = plain.apply(tokens.features)
    for name, setting in SETTINGS.items():
        with setting():
            record = compressor.compress(tokens)
            same = record.apply(tokens.features)
        assert torch.equal(record.keep, plain.keep), name
        assert torch.equal(record.group, plain.group), name
        torch.testing.assert_close(same, features, msg=name)
        assert not record.weight.is_inference(), name
