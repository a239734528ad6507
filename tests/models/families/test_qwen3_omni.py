import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import Qwen3OmniMoeConfig

from gleanvid.models import compressing, load_model
from gleanvid.models.families.qwen3_omni import Qwen3Omni
from gleanvid.types import ModelError, Video
from tests.models.oracle import EveryNth, model_inputs
from tests.models.tiny import noise_video

QUARTER = EveryNth(retention_ratio=0.25)


@pytest.fixture(params=["qwen3_omni"])
def model(request, adapters):
    return adapters[request.param]


def test_thinker_is_loaded_from_a_whole_checkpoint(model, tmp_path):
    """Published checkpoints hold the weights of the thinker and of the talker."""
    source = model.hf_model.config.to_dict()
    whole = Qwen3OmniMoeConfig(thinker_config=source).to_dict() | {"thinker_config": source}
    (tmp_path / "config.json").write_text(json.dumps(whole, default=str))
    weights = load_file(f"{model.name}/model.safetensors")
    made = {"thinker." + name.removeprefix("thinker."): weights[name] for name in weights}
    # as in published checkpoints, no `language_model` between "thinker.model" and "layers"
    assert "thinker.model.layers.0.self_attn.q_proj.weight" in made
    made["talker.model.norm.weight"] = torch.ones(32)
    save_file(made, tmp_path / "model.safetensors", metadata={"format": "pt"})
    for file in ("processor_config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / file).write_bytes((tmp_path / model.name / file).read_bytes())
    loaded = load_model(tmp_path, device="cpu")
    assert type(loaded) is Qwen3Omni
    found = loaded.hf_model.state_dict()
    for name, tensor in model.hf_model.state_dict().items():
        assert torch.equal(found[name], tensor), name


SOUND = {"input_features": torch.ones(1, 16, 80), "feature_attention_mask": torch.ones(1, 80).int()}


@pytest.mark.parametrize("sound", [SOUND, {"use_audio_in_video": True}], ids=["beside", "within"])
def test_audio_input_is_refused_while_compressing(model, sound):
    inputs = model_inputs(model, ["what?"])
    with (
        pytest.raises(ModelError, match=rf"{min(sound, key=len)}.*remove the sound"),
        compressing(model.hf_model, QUARTER),
    ):
        model.hf_model.generate(**inputs, **sound, max_new_tokens=1)


@pytest.mark.parametrize("fps", [2.0, 3.0])
def test_token_positions_follow_the_frame_times_in_seconds(model, fps):
    """Time has 13 positions per second, even for frames at fractional seconds."""
    video = Video.from_frames(noise_video(6).frames, fps=fps)
    inputs = model_inputs(model, ["what?"], [video])
    positions = model.hf_model._prepare_position_ids_for_generation(inputs["input_ids"], inputs)
    times = positions[1, 0, inputs["input_ids"][0] == model.layout.video_token_id].unique()
    assert times.diff().tolist() == pytest.approx([26 / fps] * 2, abs=1e-4)
    encoded = model.encode(video)
    talk = model.conversation(encoded, QUARTER)
    assert talk.ask("what?").text == model.generate(encoded, "what?", QUARTER).text
