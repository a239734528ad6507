from __future__ import annotations

import json
import threading

import pytest

from gleanvid.errors import ModelError, StoppedError
from gleanvid.models import load_model
from gleanvid.models.loading.download import fetch
from gleanvid.models.loading.fit import Memory, check_fit, memory, memory_gb
from gleanvid.models.loading.hub import cached
from gleanvid.models.loading.outlook import outlook
from gleanvid.models.loading.precision import PRECISIONS, split_precision, with_precision
from gleanvid.models.loading.registry import FIRST_CHOICES, checkpoint, first_choice
from gleanvid.models.loading.weight_progress import weight_progress
from tests import local_hub

GB = 10**9


def gpu(free_gb):
    return Memory("cuda", int(free_gb * GB), int(free_gb * GB))


def test_model_preview_has_download_size_and_memory_of_this_machine(hub):
    found = outlook("tiny/model", device="cpu")
    assert found.download.size > found.download.weights > 0 and found.fit.ok
    assert f"{found.download.missing / 1e6:.1f} MB to download" in found.text
    asked = [path for _, path, _ in hub.requests if "resolve" in path]
    assert [path.rpartition("/")[2] for path in asked] == ["config.json"]
    list(fetch(found.download, threading.Event()))
    count = len(hub.requests)
    assert outlook("tiny/model", device="cpu").text.startswith("The model is already downloaded")
    assert len(hub.requests) == count


@pytest.mark.parametrize(
    "index", ["[]", "{}", '{"weight_map": 1}', '{"weight_map": {"a": 1}}', "[" * 10**5]
)
def test_checkpoint_with_a_broken_index_counts_as_not_downloaded(hub, index):
    download = outlook("tiny/model", device="cpu").download
    list(fetch(download, threading.Event()))
    assert cached("tiny/model") == download.folder
    place = download.folder / "model.safetensors.index.json"
    place.unlink()
    place.write_text(index)
    assert cached("tiny/model") is None


def test_previewing_a_folder_or_the_built_in_model_sends_no_request(hub, published):
    for name in (str(published), "builtin"):
        found = outlook(name, device="cpu")
        assert found.download is None and found.billions > 0
    assert not hub.requests


def test_unsupported_model_type_is_refused_before_downloading_weights(hub, tmp_path):
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "aya", "vision_config": {}}))
    (folder / "model.safetensors").write_bytes(b"x" * 100_000)
    hub.repositories["other/model"] = local_hub.Repository(folder)
    with pytest.raises(ModelError, match="is of type aya, which is not one of"):
        outlook("other/model")
    assert not [path for _, path, _ in hub.requests if path.endswith("model.safetensors")]


def test_deeply_nested_config_json_is_reported_as_damaged(tmp_path):
    (tmp_path / "config.json").write_text("[" * 100_000 + "]" * 100_000)
    with pytest.raises(ModelError, match=r"is damaged: its config\.json cannot be read"):
        outlook(str(tmp_path))


def test_free_memory_is_measured():
    found = memory("cpu")
    assert found.device == "cpu" and found.gpu_gb == 0
    assert 0 < found.free <= found.total


def test_memory_check_suggests_4_bit_where_it_helps():
    assert check_fit(8.8, "bf16", 32, gpu(24)).text == "fits this machine"
    assert check_fit(8.8, "auto", 32, gpu(16)).text == "too large: try 4-bit"
    assert check_fit(8.8, "4bit", 32, gpu(16)).ok
    assert check_fit(72, "auto", 32, gpu(24)).text == "too large"
    assert check_fit(8.8, "auto", 32, Memory("cpu", 20 * GB, 20 * GB)).text == "too large"
    assert check_fit(8.8, "auto", 32, Memory("cpu", None, None)).ok is None


def test_estimated_memory_grows_with_frames_and_bits():
    rising = [memory_gb(8, kind, 32, "cuda") for kind in ("4bit", "8bit", "bf16", "fp32")]
    assert rising == sorted(rising)
    assert memory_gb(8, "bf16", 64, "cuda") > memory_gb(8, "bf16", 32, "cuda") > 16
    assert memory_gb(8, "auto", 32, "cpu") == memory_gb(8, "fp32", 32, "cpu")
    with pytest.raises(ValueError, match="precision='2bit'"):
        memory_gb(8, "2bit", 32, "cuda")


@pytest.mark.parametrize(("size", "name"), FIRST_CHOICES)
def test_recommended_checkpoints_are_in_the_registry_and_fit_their_hardware(size, name):
    row = checkpoint(name)
    there = gpu(size) if size else Memory("cpu", 4 * GB, 8 * GB)
    assert first_choice(there.gpu_gb) == name
    assert check_fit(row.parameters or row.size, "auto", 32, there).ok


def test_model_name_with_precision_is_split_into_name_and_precision():
    for precision in PRECISIONS:
        assert split_precision(with_precision("a/b", precision)) == ("a/b", precision)
    assert split_precision("folder@home") == ("folder@home", "auto")


def test_loading_progress_rises_to_1_and_loading_can_be_stopped(published):
    shares, stop = [], threading.Event()
    with weight_progress(shares.append, stop):
        load_model(published, device="cpu")
    assert shares == sorted(shares) and shares[-1] == 1 and len(shares) > 10
    before = len(shares)
    with weight_progress(lambda _: stop.set(), stop), pytest.raises(StoppedError):
        load_model(published, device="cpu")
    load_model(published, device="cpu")
    assert len(shares) == before
