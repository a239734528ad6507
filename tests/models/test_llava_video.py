"""LLaVA-Video: where newlines stand and which stay, the original format, time in the prompt."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig

from gleanvid.models import compressing, load_model
from gleanvid.models.llava_video import LlavaVideo
from gleanvid.models.llava_video_model import LlavaVideoConfig
from gleanvid.types import ModelError, Video
from tests.models.oracle import (
    QUESTIONS,
    Tilted,
    generate,
    kept_columns,
    masked_logits,
    model_inputs,
    read_while_decoding,
)
from tests.models.tiny import noise_video

QUARTER = Tilted(retention_ratio=0.25)
# the keys of the published 7B checkpoint's config.json that matter here
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


@pytest.fixture
def video_model(adapters):
    """A model whose layout a test may change."""
    model = adapters["llava_video"]
    before = {name: getattr(model.hf_model.config, name) for name in ("newline_policy",)}
    before |= {"spatial_pool_mode": "average", "newline_position": "grid"}
    yield model
    model.configure(**before)


def original(directory, source, **config) -> None:
    """``source`` rewritten with the tensor names and the files of an original checkpoint."""
    theirs = load_model(source, device="cpu")
    weights = {}
    for name, tensor in load_file(source + "/model.safetensors").items():
        name = name.replace("model.vision_tower.", "model.vision_tower.vision_tower.vision_model.")
        name = name.replace("model.multi_modal_projector.linear_1", "model.mm_projector.0")
        name = name.replace("model.multi_modal_projector.linear_2", "model.mm_projector.2")
        weights[name.replace("model.language_model.", "model.")] = tensor
    save_file(weights, directory / "model.safetensors", metadata={"format": "pt"})
    text = theirs.text_config.to_dict() | {"rope_theta": 10000.0}
    stated = {name: text.get(name, value) for name, value in PUBLISHED.items()}
    stated |= {"model_type": "llava_qwen", "mm_spatial_pool_mode": "average", "eos_token_id": 2}
    stated["vision_config"] = theirs.hf_model.config.vision_config.to_dict()
    (directory / "config.json").write_text(json.dumps(stated | config))
    theirs.processor.tokenizer.save_pretrained(directory)


def test_an_original_checkpoint_is_the_same_model(adapters, tmp_path):
    ours = adapters["llava_video"]
    original(tmp_path, ours.name)
    names = set(load_file(tmp_path / "model.safetensors"))
    assert "model.vision_tower.vision_tower.vision_model.embeddings.patch_embedding.bias" in names
    assert {"model.mm_projector.2.weight", "model.layers.0.mlp.up_proj.weight"} < names
    assert not any("language_model" in name or "multi_modal" in name for name in names)
    loaded = load_model(tmp_path, device="cpu")
    assert isinstance(loaded, LlavaVideo)
    expected = ours.hf_model.state_dict()
    found = loaded.hf_model.state_dict()
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)
    assert loaded.layout.grids({"pixel_values_videos": torch.empty(1, 4, 3, 100, 0)}) == [(4, 3, 3)]


def test_an_original_checkpoint_answers(adapters, tmp_path):
    """Its tokenizer alone is there: prompt, picture size and mean come from what it is."""
    original(tmp_path, adapters["llava_video"].name)
    loaded = load_model(tmp_path, device="cpu")
    encoded = loaded.encode(noise_video())
    answer = loaded.generate(encoded, "what moves?", QUARTER, max_new_tokens=3)
    assert answer.new_tokens == 3
    assert loaded.hf_model.generation_config.eos_token_id == 2
    assert encoded.prefix.startswith("<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n")
    pixels = loaded.build_inputs(noise_video(), encoded.prefix, None)["pixel_values_videos"]
    assert pixels.shape == (1, 5, 3, 100, 100)
    assert -1 <= pixels.min() < -0.8 and 0.8 < pixels.max() <= 1


def test_the_published_configuration(tmp_path):
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


def test_another_tower_is_refused(tmp_path):
    other = PUBLISHED | {"mm_vision_tower": "openai/clip-vit-large-patch14-336"}
    (tmp_path / "config.json").write_text(json.dumps(other))
    with pytest.raises(ModelError, match="openai/clip-vit-large-patch14-336"):
        load_model(tmp_path)


@pytest.mark.parametrize("position", ["grid", "frame", "one_token", "no_token"])
@pytest.mark.parametrize("mode", ["average", "bilinear"])
def test_the_layout_row_by_row(video_model, mode, position):
    """Every row the language model receives is the pooled token or the newline it should be."""
    video_model.configure(spatial_pool_mode=mode, newline_position=position)
    core, side, seen = video_model.hf_model.model, {"average": 3, "bilinear": 4}[mode], []
    handle = core.multi_modal_projector.register_forward_hook(lambda *made: seen.append(made[2]))
    tokens = video_model.encode(noise_video(3)).tokens
    handle.remove()
    square = seen[0].view(3, 7, 7, -1).permute(0, 3, 1, 2)
    pooled = {
        "average": lambda: torch.nn.functional.avg_pool2d(square, 2),
        "bilinear": lambda: torch.nn.functional.interpolate(square, (4, 4), mode="bilinear"),
    }[mode]()
    assert tokens.grid == (3, side, side)
    assert torch.equal(tokens.features, pooled.permute(0, 2, 3, 1).flatten(0, 2))
    expected, features = [], iter(tokens.features)
    for frame in range(3):
        for row in range(side):
            expected += [next(features) for _ in range(side)]
            last_row, last = row == side - 1, row == side - 1 and frame == 2
            ends = {"grid": True, "frame": last_row, "one_token": last, "no_token": False}
            expected += [core.image_newline] * ends[position]
    inputs = model_inputs(video_model, QUESTIONS[:1], [noise_video(3)])
    rows = []

    def look(module, args, kwargs):
        rows.append(kwargs["inputs_embeds"])

    handle = core.language_model.register_forward_pre_hook(look, with_kwargs=True)
    video_model.hf_model(**inputs)
    handle.remove()
    video = inputs["input_ids"] == video_model.layout.video_token_id
    assert torch.equal(rows[0][video], torch.stack(expected))


@pytest.mark.parametrize("position", ["grid", "frame", "one_token", "no_token"])
@pytest.mark.parametrize("policy", ["line", "all", "none"])
def test_every_policy_equals_its_oracle(video_model, position, policy):
    video_model.configure(newline_position=position, newline_policy=policy)
    inputs = model_inputs(video_model, QUESTIONS[:1])
    with compressing(video_model.hf_model, QUARTER) as record:
        output = generate(video_model, inputs)
    kept = kept_columns(video_model, inputs, [record.compression])
    steps = read_while_decoding(output, inputs)
    _, decoded = masked_logits(video_model.hf_model, inputs, kept, steps)
    torch.testing.assert_close(torch.stack(output.logits, 1), decoded, atol=1e-5, rtol=0)
    lines = {"grid": 15, "frame": 5, "one_token": 1, "no_token": 0}[position]
    touched = len(
        {int(token) // (45 // lines) for token in record.compression.keep} if lines else ()
    )
    stay = {"line": touched, "all": lines, "none": 0}[policy]
    dropped = 45 - record.compression.num_kept + lines - stay
    assert record.prompt_tokens[0] - record.prompt_tokens_kept[0] == dropped


def test_the_prompt_tells_the_times_once(adapters):
    model = adapters["llava_video"]
    video = Video.from_frames(noise_video(3).frames, fps=2.0)
    sentence = (
        "<video>\nThe video lasts for 1.50 seconds, and 3 frames are uniformly sampled from it. "
        "These frames are located at 0.00s,0.50s,1.00s.Please answer the following questions "
        "related to this video.\nfirst?<|im_end|>"
    )
    assert sentence in model._render(video, "first?", ())
    later = model._render(video, "second?", [("first?", "yes")])
    assert sentence in later and later.count("uniformly sampled") == 1


def test_settings_may_be_given_when_loading(adapters):
    directory = adapters["llava_video"].name
    chosen = {"spatial_pool_mode": "bilinear", "newline_policy": "all", "time_instruction": False}
    model = load_model(directory, device="cpu", settings=chosen)
    assert model.encode(noise_video(2)).tokens.grid == (2, 4, 4)
    assert model.layout.sides((2, 4, 4))[0].tolist() == [4, 0, 32]
    assert "uniformly sampled" not in model._render(noise_video(2), "what?", ())
    with pytest.raises(ValueError, match="none of its own"):
        load_model(adapters["llava_onevision"].name, device="cpu", settings=chosen)


def test_wrong_settings_are_named(video_model):
    for wrong in ({"newline_policy": "some"}, {"newlines": "all"}, {"spatial_pool_mode": "max"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            video_model.configure(**wrong)
