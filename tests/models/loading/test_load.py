import json
from pathlib import Path

import pytest
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from gleanvid.models import compressing, load_model
from gleanvid.models.generation.sampling import Sampling
from gleanvid.types import ModelError
from tests.models import tiny


@pytest.fixture
def directory(model_folder):
    return Path(model_folder)


def test_model_directory_loads_with_the_defaults_for_a_cpu(directory):
    model = load_model(directory, device="cpu")
    assert model.hf_model.dtype == torch.float32
    assert model.text_config._attn_implementation == "sdpa"
    assert model.device.type == "cpu"
    assert not model.hf_model.training


def test_dtype_attention_and_device_map_are_used(directory):
    model = load_model(directory, dtype="bfloat16", attn_implementation="eager", device_map="cpu")
    assert model.hf_model.dtype == torch.bfloat16
    assert model.text_config._attn_implementation == "eager"
    answer = model.generate(model.encode(tiny.noise_video()), "what?", None, Sampling(2))
    assert answer.new_tokens == 2


@pytest.mark.parametrize("name", ["builtin", "mobilenet_v2"])
def test_models_of_the_package_load_without_a_progress_bar(name, directory, capfd):
    load_model(name, device="cpu")
    assert "Loading weights" not in capfd.readouterr().err
    load_model(directory, device="cpu")  # the bars of others are back
    assert "Loading weights" in capfd.readouterr().err


def test_path_that_is_no_model_directory_is_refused(tmp_path):
    with pytest.raises(ModelError, match="no directory"):
        load_model(tmp_path / "nowhere")
    with pytest.raises(ModelError, match=r"config\.json"):
        load_model(tmp_path)
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(ModelError, match="is a file"):
        load_model(tmp_path / "file.txt")


def test_missing_and_damaged_weights_are_refused(directory, tmp_path):
    for name in ("config.json", "processor_config.json", "tokenizer.json"):
        if (directory / name).exists():
            (tmp_path / name).write_bytes((directory / name).read_bytes())
    with pytest.raises(ModelError, match="incomplete or damaged"):
        load_model(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ModelError):
        load_model(tmp_path)


def test_unsupported_model_is_refused_with_the_supported_types(tmp_path):
    config = Qwen2Config(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2
    )
    config.save_pretrained(tmp_path / "text")
    with pytest.raises(ModelError, match=r"text-only.*qwen3_vl"):
        load_model(tmp_path / "text")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text(json.dumps({"model_type": "aya_vision"}))
    with pytest.raises(ModelError, match=r"aya_vision.*qwen3_vl"):
        load_model(tmp_path / "other")
    (tmp_path / "other" / "config.json").write_text(json.dumps({"model_type": "no_such_type"}))
    with pytest.raises(ModelError, match="no_such_type"):
        load_model(tmp_path / "other")
    with pytest.raises(ModelError, match="text-only"), compressing(Qwen2ForCausalLM(config), None):
        pass


def test_remote_code_is_never_run(directory, tmp_path):
    config = json.loads((directory / "config.json").read_text())
    config |= {"model_type": "custom", "auto_map": {"AutoConfig": "evil.Config"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "evil.py").write_text("raise SystemExit('remote code ran')")
    with pytest.raises(ModelError):
        load_model(tmp_path)
