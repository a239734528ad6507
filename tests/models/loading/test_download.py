import json
import threading
import time
from pathlib import Path

import pytest
from huggingface_hub import constants

from gleanvid.errors import ModelError, StoppedError
from gleanvid.models import load_model
from gleanvid.models.loading.download import fetch, list_files
from gleanvid.models.loading.hub import cached
from gleanvid.models.loading.outlook import outlook
from tests import local_hub

pytestmark = pytest.mark.slow
NAME = "tiny/model"


def download():
    return list(fetch(NAME, threading.Event()))


def test_gated_model_downloads_with_a_token_and_loads_without_another_request(hub, monkeypatch):
    hub.repositories[NAME].gated = True
    with pytest.raises(ModelError, match="gated: accept its terms"):
        download()
    monkeypatch.setenv("HF_TOKEN", local_hub.TOKEN)
    hub.requests.clear()
    found = outlook(NAME, device="cpu")
    assert hub.downloads() == ["config.json"] and found.fit.ok
    sizes = list_files(NAME)
    assert found.missing == sum(sizes.values()) - sizes["config.json"]
    assert "tokenizer.json" in sizes and not sizes.keys() & {"pytorch_model.bin", "README.md"}
    counts = download()
    assert counts == sorted(counts) and counts[-1] == found.missing
    assert sorted(hub.downloads()) == sorted(sizes)
    before = len(hub.requests)
    assert load_model(NAME, device="cpu", local_files_only=True).name == NAME
    assert outlook(NAME, device="cpu").missing == 0
    assert len(hub.requests) == before


def test_cancelled_download_ends_soon_and_keeps_complete_files(hub):
    whole, stop = outlook(NAME, device="cpu").missing, threading.Event()
    hub.repositories[NAME].silent = "00002-of-00002"
    start = time.monotonic()
    counts = fetch(NAME, stop)
    next(counts)
    threading.Timer(1.0, stop.set).start()
    with pytest.raises(StoppedError):
        list(counts)
    assert time.monotonic() - start < 20 and cached(NAME) is None
    assert not list(Path(constants.HF_HUB_CACHE).rglob("*.incomplete"))
    assert 0 < outlook(NAME, device="cpu").missing < whole
    hub.repositories[NAME].silent = ""
    hub.requests.clear()
    download()
    assert hub.downloads() == ["model-00002-of-00002.safetensors"] and cached(NAME)


REFUSED = {
    "gated": (NAME, None, r"gated: accept its terms at .*tiny/model, then run 'hf auth login'"),
    "token": (NAME, "hf_wrong", "refused the token.*hf auth login"),
    "unknown": ("no/body", None, "no model no/body"),
    "invalid": ("a name with blanks", None, "not the name of a model"),
    "pickles": ("old/model", None, "no weights in safetensors"),
    "type": ("other/model", None, "is of type aya, which is not one of"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_unusable_model_is_refused_in_a_sentence_before_its_weights(
    hub, tmp_path, monkeypatch, case
):
    name, token, sentence = REFUSED[case]
    hub.repositories[NAME].gated = True
    for owner, weights in (("old", "pytorch_model.bin"), ("other", "model.safetensors")):
        folder = tmp_path / owner
        folder.mkdir()
        (folder / weights).write_bytes(b"x")
        (folder / "config.json").write_text(json.dumps({"model_type": "aya", "vision_config": {}}))
        hub.repositories[f"{owner}/model"] = local_hub.Repository(folder)
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(ModelError, match=sentence):
        outlook(name, device="cpu")
    assert {*hub.downloads()} <= {"config.json"}


def test_missing_network_and_offline_mode_give_different_messages(hub, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="HF_HUB_OFFLINE=1 forbids"):
        list_files(NAME)
    assert not hub.requests
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    ways = "does not answer: .* HF_ENDPOINT .* HF_HOME .* 'hf download .*the downloaded folder"
    with pytest.raises(ModelError, match=ways):
        list_files(NAME)


def test_folder_and_built_in_model_are_inspected_without_a_request(hub, published, tmp_path):
    for name in (str(published), "builtin"):
        assert outlook(name, device="cpu").missing == 0
    assert not hub.requests
    (tmp_path / "config.json").write_text("[" * 100_000 + "]" * 100_000)
    with pytest.raises(ModelError, match=r"is damaged: its config\.json cannot be read"):
        outlook(str(tmp_path))
