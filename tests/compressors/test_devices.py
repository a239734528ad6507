"""On a simulated device without float64, the same tokens are kept as on the CPU."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from gleanvid.devices import has_float64
from gleanvid.models.loading.options import device_of, dtype_of
from gleanvid.types import Compression, ModelError
from tests.compressors.forms import AHEAD, ONE_EACH, noise
from tests.stand_in import PLACE, StandIn, There


@pytest.fixture(autouse=True)
def no_float64(monkeypatch):
    for module in ("devices", "compressors.base"):
        monkeypatch.setattr(f"gleanvid.{module}.has_float64", lambda at: at.type != PLACE.type)


def tensors(record: Compression) -> dict[str, torch.Tensor]:
    named = {**record.scores, **record.trace, **record.state}
    return {"keep": record.keep, "group": record.group, "weight": record.weight, **named}


def test_simulated_device_refuses_float64():
    with StandIn():
        row = torch.ones(3).to(PLACE)
        assert (row.device, (row + 1).cpu().tolist()) == (PLACE, [2, 2, 2])
        for make in (row.double, lambda: torch.ones(2).double().to(PLACE)):
            with pytest.raises(TypeError, match="float64"):
                make()


@pytest.mark.parametrize("label", ONE_EACH)
def test_tokens_kept_on_a_device_without_float64_equal_those_on_the_cpu(label):
    method, tokens = AHEAD[label](0.5), noise((8, 4, 4), 16)
    expected = method.compress(tokens)
    with StandIn():
        there = {
            name: part.to(PLACE)
            for name in ("features", "saliency", "keys", "text")
            if (part := getattr(tokens, name)) is not None
        }
        record = method.compress(replace(tokens, **there))
        for name, part in tensors(record).items():
            assert isinstance(part, There), name
        found = {name: part.cpu() for name, part in tensors(record).items()}
    for name, part in tensors(expected).items():
        assert torch.equal(found[name], part.to(found[name].dtype)), name


def test_devices_without_float64_and_missing_devices_are_recognised(monkeypatch):
    assert has_float64(torch.device("cpu")) and has_float64(torch.device("cuda"))
    assert not has_float64(torch.device("mps"))
    for able in (True, False):
        facts = SimpleNamespace(has_fp64=able)
        monkeypatch.setattr(torch.xpu, "get_device_properties", lambda at, facts=facts: facts)
        assert has_float64(torch.device("xpu")) == able
    for kind in ("cuda", "mps", "xpu"):
        monkeypatch.setattr(getattr(torch, kind), "is_available", lambda: False)
        with pytest.raises(ModelError, match=f"No {kind.upper()} device is available"):
            device_of(kind)
        monkeypatch.setattr(getattr(torch, kind), "is_available", lambda: True)
        assert dtype_of(None, device_of(kind)) == torch.bfloat16
    with pytest.raises(ModelError, match="is not a device"):
        device_of("gpu")
