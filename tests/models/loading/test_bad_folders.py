import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from gleanvid.models import load_model
from gleanvid.types import ModelError


@pytest.fixture
def folder(model_folder, tmp_path):
    return shutil.copytree(model_folder, tmp_path / "model")


def with_weights(folder, change):
    weights = load_file(folder / "model.safetensors")
    name = max(weights, key=lambda name: weights[name].numel())
    weights[name] = change(weights[name])
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


def with_config(folder, **changes):
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["text_config"] |= changes
    path.write_text(json.dumps(config))


def test_weights_of_wrong_shape_are_refused(folder):
    with_weights(folder, lambda weight: weight[..., :-1].contiguous())
    with pytest.raises(ModelError):
        load_model(folder)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(folder, number):
    def spoil(weight):
        weight.view(-1)[3] = number
        return weight

    with_weights(folder, spoil)
    with pytest.raises(ModelError, match="NaN or infinite"):
        load_model(folder)


def test_pickled_weights_are_not_opened(folder):
    class Evil:
        def __reduce__(self):
            return (exit, (13,))

    (folder / "model.safetensors").unlink()
    torch.save({"weight": Evil()}, folder / "pytorch_model.bin")
    with pytest.raises(ModelError):
        load_model(folder)


def test_missing_tokenizer_is_refused(folder):
    for path in folder.glob("*token*"):
        path.unlink()
    with pytest.raises(ModelError):
        load_model(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"num_attention_heads": 0},
        {"hidden_size": -1},
        {"num_hidden_layers": "many"},
        {"hidden_size": 10**12},
        {"hidden_act": "no_such"},
    ],
    ids=str,
)
def test_invalid_model_configuration_is_refused(folder, changes):
    with_config(folder, **changes)
    with pytest.raises(ModelError):
        load_model(folder)


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "/" + "x" * 5000])
def test_invalid_model_name_is_refused(name):
    with pytest.raises(ModelError):
        load_model(name)
