import json

import pytest
import torch
from transformers import AutoConfig, AutoModelForImageTextToText

from gleanvid.models.loading.random_weights import _CONFIGS, random_model, shipped_configs
from gleanvid.types import ModelError
from tests.models.small import SMALL
from tests.models.tiny import noise_video

PARAMETERS = {  # billions of parameters, as published
    "qwen3-vl-8b": 8.77,
    "llava-onevision-7b": 8.03,
    "llava-video-7b": 8.03,
}
GRIDS = {  # token grids of 4 frames of 96 x 160: Qwen merges frame pairs, LLaVA resizes to squares
    "qwen3-vl-8b": (2, 3, 5),
    "llava-onevision-7b": (4, 14, 14),
    "llava-video-7b": (4, 13, 13),
}
NEWLINES = {"qwen3-vl-8b": 0, "llava-onevision-7b": 1, "llava-video-7b": 4 * 13}


@pytest.fixture(scope="module", params=shipped_configs())
def made(request):
    return request.param, random_model(request.param, "cpu", changes=SMALL[request.param])


@pytest.mark.parametrize("name", shipped_configs())
def test_shipped_configuration_has_the_published_number_of_weights(name):
    facts = json.loads((_CONFIGS / f"{name}.json").read_text())["config"]
    config = AutoConfig.for_model(facts.pop("model_type"), **facts)
    with torch.device("meta"):
        model = AutoModelForImageTextToText.from_config(config, dtype=torch.bfloat16)
    total = sum(weight.numel() for weight in model.parameters()) / 1e9
    assert total == pytest.approx(PARAMETERS[name], abs=0.006)
    assert {weight.dtype for weight in model.parameters()} == {torch.bfloat16}


def test_model_with_random_weights_has_the_grid_and_prompt_of_its_family(made):
    name, model = made
    encoded = model.encode(noise_video(4, 96, 160))
    assert encoded.tokens.grid == GRIDS[name]
    ids = model.prompt(encoded, "which colour?", ())["input_ids"]
    count = int((ids == model.processor.video_token_id).sum())
    assert count == len(encoded.tokens) + NEWLINES[name]


def test_unknown_configuration_name_is_refused():
    with pytest.raises(ModelError, match="config='nothing' must be one of"):
        random_model("nothing")
