import re

import pytest
import torch
from huggingface_hub import constants

from gleanvid.models import load_model
from gleanvid.models.generation.sampling import Sampling
from gleanvid.models.loading import options
from gleanvid.types import ModelError
from tests.models import tiny
from tests.models.oracle import EveryNth

QUARTER = EveryNth(retention_ratio=0.25)


def test_contradictory_loading_options_are_refused(model_folder):
    with pytest.raises(ModelError, match="device and device_map"):
        load_model(model_folder, device="cpu", device_map="cpu")


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"attn_implementation": "nonsense"}, "nonsense"),
        ({"attn_implementation": "flash_attention_2"}, "needs a CUDA device .*use 'sdpa'"),
        ({"device": None, "device_map": "nonsense"}, "nonsense"),
        ({"settings": {"newlines": "all"}}, "newlines"),
        ({"dtype": "float33"}, "float33"),
        ({"dtype": torch.float64}, "dtype"),
        ({"device": "nonsense"}, "device"),
    ],
    ids=str,
)
def test_error_for_an_invalid_or_unavailable_loading_option_names_it(model_folder, option, said):
    with pytest.raises((ModelError, ValueError), match=said):
        load_model(model_folder, **{"device": "cpu"} | option)


def test_unknown_quantization_and_missing_packages_are_refused(model_folder, monkeypatch):
    with pytest.raises(ModelError, match="quantization='2bit' must be one of 8bit, 4bit"):
        load_model(model_folder, quantization="2bit")
    monkeypatch.setattr(options, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"gleanvid\[quantize\].*bitsandbytes"):
        load_model(model_folder, quantization="4bit")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["8bit", "4bit"])
def test_quantized_model_answers_with_compression_and_from_a_reused_encoding(kind):
    pytest.importorskip("bitsandbytes")
    model = load_model("builtin", quantization=kind, device="cpu")
    layer = model.layout.language_model.layers[0].self_attn.q_proj
    assert layer.weight.dtype in (torch.int8, torch.uint8)
    encoded = model.encode(tiny.noise_video())
    fresh = model.generate(encoded, "what?", QUARTER, Sampling(3))
    assert model.conversation(encoded, QUARTER).ask("what?", Sampling(3)).text == fresh.text


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("bultin", " Did you mean 'builtin'?"),
        ("Qwen/Qwen3-VL-2B-Instrct", " Did you mean 'Qwen/Qwen3-VL-2B-Instruct'?"),
        ("Qwen/Qwen3-VL-2B-Instruct", ""),
        ("somebody/tiny", ""),
    ],
)
def test_model_that_cannot_be_fetched_is_refused_with_the_closest_known_name(
    name, meant, monkeypatch
):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match=re.escape(f"that directory.{meant} (")):
        load_model(name)
