import json
import re

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from transformers import AutoConfig

from gleanvid.models import load_model
from gleanvid.models.families.llava_video.adapter import LlavaVideo
from gleanvid.models.families.llava_video.config import LlavaVideoConfig
from gleanvid.models.generation.sampling import Sampling
from gleanvid.types import ModelError
from tests.models.loading.test_published_format import save_in_shards
from tests.models.oracle import EveryNth
from tests.models.tiny import noise_video

QUARTER = EveryNth(retention_ratio=0.25)
# part of the published 7B checkpoint's config.json: the keys that loading reads
PUBLISHED = {
    "architectures": ["LlavaQwenForCausalLM"],
    "bos_token_id": 151643,
    "eos_token_id": 151645,
    "model_type": "llava_qwen",
    "hidden_act": "silu",
    "hidden_size": 3584,
    "intermediate_size": 18944,
    "max_position_embeddings": 32768,
    "mm_newline_position": "grid",
    "mm_spatial_pool_mode": "bilinear",
    "mm_spatial_pool_stride": 2,
    "mm_projector_type": "mlp2x_gelu",
    "mm_vision_select_layer": -2,
    "mm_vision_tower": "google/siglip-so400m-patch14-384",
    "num_attention_heads": 28,
    "num_hidden_layers": 28,
    "num_key_value_heads": 4,
    "rms_norm_eps": 1e-06,
    "rope_theta": 1000000.0,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "vocab_size": 152064,
}
# names of weights in the original checkpoint; N stands for the number of a layer
TOWER = "model.vision_tower.vision_tower.vision_model."
BIASED = [
    *(f"model.layers.N.self_attn.{name}" for name in ("q_proj", "k_proj", "v_proj")),
    *("model.mm_projector.0", "model.mm_projector.2"),
    *(TOWER + "embeddings.patch_embedding", TOWER + "post_layernorm"),
    *(f"{TOWER}encoder.layers.N.{name}" for name in ("layer_norm1", "layer_norm2")),
    *(f"{TOWER}encoder.layers.N.mlp.{name}" for name in ("fc1", "fc2")),
    *(f"{TOWER}encoder.layers.N.self_attn.{name}" for name in ("q_proj", "k_proj", "v_proj")),
    TOWER + "encoder.layers.N.self_attn.out_proj",
]
PLAIN = [
    *("lm_head", "model.embed_tokens", "model.norm", TOWER + "embeddings.position_embedding"),
    *(f"model.layers.N.{name}" for name in ("input_layernorm", "post_attention_layernorm")),
    *(f"model.layers.N.mlp.{name}" for name in ("down_proj", "gate_proj", "up_proj")),
    "model.layers.N.self_attn.o_proj",
]
ORIGINAL = {"model.image_newline"} | {f"{name}.weight" for name in BIASED + PLAIN}
ORIGINAL |= {f"{name}.bias" for name in BIASED}


def original(directory, source, **config) -> None:
    """Write the model in ``source`` to ``directory`` in the format of an original checkpoint."""
    theirs = load_model(source, device="cpu")
    weights = {}
    for name, tensor in load_file(source + "/model.safetensors").items():
        name = name.replace("model.vision_tower.", "model.vision_tower.vision_tower.vision_model.")
        name = name.replace("model.multi_modal_projector.linear_1", "model.mm_projector.0")
        name = name.replace("model.multi_modal_projector.linear_2", "model.mm_projector.2")
        weights[name.replace("model.language_model.", "model.")] = tensor
    save_in_shards(weights, directory)
    text = theirs.text_config.to_dict() | {"rope_theta": 10000.0}
    stated = {name: text.get(name, value) for name, value in PUBLISHED.items()}
    stated |= {"model_type": "llava_qwen", "mm_spatial_pool_mode": "average", "eos_token_id": 2}
    stated["vision_config"] = theirs.hf_model.config.vision_config.to_dict()
    (directory / "config.json").write_text(json.dumps(stated | config))
    theirs.processor.tokenizer.save_pretrained(directory)


def test_checkpoint_in_the_original_llava_format_loads_as_the_same_model(adapters, tmp_path):
    ours = adapters["llava_video"]
    original(tmp_path, ours.name)
    written = [safe_open(file, "pt").keys() for file in tmp_path.glob("model-*.safetensors")]
    assert len(written) == 2
    names = {re.sub(r"layers\.\d+\.", "layers.N.", name) for names in written for name in names}
    assert names == ORIGINAL
    loaded = load_model(tmp_path, device="cpu")
    assert isinstance(loaded, LlavaVideo)
    expected = ours.hf_model.state_dict()
    found = loaded.hf_model.state_dict()
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)
    assert loaded.layout.grids({"pixel_values_videos": torch.empty(1, 4, 3, 100, 0)}) == [(4, 3, 3)]


def test_checkpoint_in_the_original_llava_format_answers_a_question(adapters, tmp_path):
    """Original checkpoints lack prompt format and frame size, so our code sets both."""
    original(tmp_path, adapters["llava_video"].name)
    loaded = load_model(tmp_path, device="cpu")
    encoded = loaded.encode(noise_video())
    answer = loaded.generate(encoded, "what moves?", QUARTER, Sampling(3))
    assert answer.new_tokens == 3
    assert loaded.hf_model.generation_config.eos_token_id == 2
    assert encoded.prefix.startswith("<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n")
    pixels = loaded.build_inputs(noise_video(), encoded.prefix, None)["pixel_values_videos"]
    assert pixels.shape == (1, 5, 3, 100, 100)
    assert -1 <= pixels.min() < -0.8 and 0.8 < pixels.max() <= 1


def test_published_llava_video_configuration_is_read_correctly(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(PUBLISHED))
    config = AutoConfig.from_pretrained(tmp_path)
    text, vision = config.text_config, config.vision_config
    assert isinstance(config, LlavaVideoConfig)
    assert (config.spatial_pool_mode, config.newline_position) == ("bilinear", "grid")
    assert (text.hidden_size, text.num_hidden_layers, text.num_key_value_heads) == (3584, 28, 4)
    assert (text.vocab_size, text.rope_parameters["rope_theta"]) == (152064, 1e6)
    assert (vision.hidden_size, vision.num_hidden_layers, vision.image_size) == (1152, 26, 384)
    assert (config.video_token_id, config.image_token_id) == (151647, 151646)
    assert not config.tie_word_embeddings and not vision.vision_use_head


def test_checkpoint_with_another_vision_tower_is_refused(tmp_path):
    other = PUBLISHED | {"mm_vision_tower": "openai/clip-vit-large-patch14-336"}
    (tmp_path / "config.json").write_text(json.dumps(other))
    with pytest.raises(ModelError, match="openai/clip-vit-large-patch14-336"):
        load_model(tmp_path)


@pytest.mark.parametrize(
    "stated",
    [
        {"mm_spatial_pool_mode": "max"},
        {"mm_newline_position": "rows"},
        {"mm_vision_select_layer": -1},
        {"mm_projector_type": "linear"},
        {"add_faster_video": True},
    ],
    ids=str,
)
def test_unsupported_settings_of_a_checkpoint_are_refused(tmp_path, stated):
    ((name, value),) = stated.items()
    (tmp_path / "config.json").write_text(json.dumps(PUBLISHED | stated))
    with pytest.raises(ModelError, match=f"{name.removeprefix('mm_')}={value!r}"):
        load_model(tmp_path)
