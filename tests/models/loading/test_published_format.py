import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from gleanvid.models import load_model
from tests.models.tiny import noise_video


@pytest.fixture
def adapter(every_adapter):
    return every_adapter


def save_in_shards(weights: dict, target: Path) -> None:
    names, index = sorted(weights), {}
    for number, part in enumerate((names[::2], names[1::2]), 1):
        file = f"model-{number:05}-of-00002.safetensors"
        save_file({name: weights[name] for name in part}, target / file, metadata={"format": "pt"})
        index |= dict.fromkeys(part, file)
    whole = sum(tensor.nbytes for tensor in weights.values())
    made = {"metadata": {"total_size": whole}, "weight_map": index}
    (target / "model.safetensors.index.json").write_text(json.dumps(made))


def processor_files(source: Path, target: Path) -> None:
    """Write the configs of the image and video processor, and the chat template."""
    rest = json.loads((source / "processor_config.json").read_text())
    named = {"processor_class": rest["processor_class"]}
    for part, file in (("image_processor", ""), ("video_processor", "video_")):
        made = rest.pop(part) | named
        (target / f"{file}preprocessor_config.json").write_text(json.dumps(made))
    (target / "processor_config.json").write_text(json.dumps(rest))
    chat = source / "chat_template.jinja"
    if chat.is_file():
        made = {"chat_template": chat.read_text()}
        (target / "chat_template.json").write_text(json.dumps(made))


def same_files(source: Path, target: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (target / name).write_bytes((source / name).read_bytes())


PLAIN = ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json")


def test_sharded_directory_loads_as_the_same_model(adapter, tmp_path):
    source = Path(adapter.name)
    save_in_shards(load_file(source / "model.safetensors"), tmp_path)
    processor_files(source, tmp_path)
    same_files(source, tmp_path, PLAIN)
    loaded = load_model(tmp_path, device="cpu")
    assert type(loaded) is type(adapter)
    video, history = noise_video(), [("what moves?", "a square")]
    ours, theirs = (model.encode(video) for model in (loaded, adapter))
    assert torch.equal(ours.tokens.features, theirs.tokens.features)
    for past in ((), history):
        prompts = [
            model.prompt(encoded, "and now?", past)["input_ids"]
            for model, encoded in ((loaded, ours), (adapter, theirs))
        ]
        assert torch.equal(*prompts)


def test_published_expert_weights_are_transposed_when_loaded(adapters, tmp_path):
    """Qwen3-VL's checkpoints hold [experts, in, out], transformers [experts, out, in]."""
    adapter = adapters["qwen3_vl_moe"]
    source = Path(adapter.name)
    same_files(source, tmp_path, (*PLAIN, "processor_config.json", "chat_template.jinja"))
    weights = load_file(source / "model.safetensors")
    experts = [name for name in weights if ".experts." in name]
    turned = {name: weights[name].mT.contiguous() for name in experts}
    assert len(experts) == 10 and turned[experts[0]].shape != weights[experts[0]].shape
    save_file(weights | turned, tmp_path / "model.safetensors", metadata={"format": "pt"})
    found = load_model(tmp_path, device="cpu").hf_model.state_dict()
    for name, expected in adapter.hf_model.state_dict().items():
        assert torch.equal(found[name], expected), name


def test_qwen25_pixel_limits_come_from_its_preprocessor_config(adapters, tmp_path):
    """Qwen2.5-VL's published preprocessor_config.json bounds the pixels of every frame."""
    source = Path(adapters["qwen2_5_vl"].name)
    same_files(source, tmp_path, (*PLAIN, "model.safetensors", "chat_template.jinja"))
    stated = {
        "min_pixels": 3136,
        "max_pixels": 28 * 28 * 12,
        "patch_size": 14,
        "temporal_patch_size": 2,
        "merge_size": 2,
        "image_mean": [0.48145466, 0.4578275, 0.40821073],
        "image_std": [0.26862954, 0.26130258, 0.27577711],
        "image_processor_type": "Qwen2VLImageProcessor",
        "processor_class": "Qwen2_5_VLProcessor",
    }
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(stated))
    model, large = load_model(tmp_path, device="cpu"), noise_video(4, 240, 320)
    units, rows, columns = model.encode(large).tokens.grid
    assert (units, rows, columns) == (2, 3, 4)  # max_pixels allows 12 tokens of 28 x 28 pixels
    units, rows, columns = model.encode(large, max_pixels=4 * 28 * 28 * 6).tokens.grid
    assert units == 2 and 4 <= rows * columns <= 6
    # min_pixels requires at least 4 tokens of 28 x 28 pixels
    assert model.encode(noise_video(2, 20, 20)).tokens.tokens_per_unit == 4
