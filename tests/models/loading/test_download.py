from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from huggingface_hub import constants, snapshot_download

from gleanvid.errors import ModelError, StoppedError, UnreachableError
from gleanvid.models import load_model
from gleanvid.models.loading import download as downloading
from gleanvid.models.loading.download import fetch
from gleanvid.models.loading.hub import cached
from gleanvid.models.loading.listing import list_files, read_config
from tests import local_hub

pytestmark = pytest.mark.slow
NAME = "tiny/model"


def download(name=NAME):
    plan = list_files(name)
    return plan, list(fetch(plan, threading.Event()))


def test_download_needs_one_listing_and_one_request_per_file(hub):
    plan, counts = download()
    assert counts == sorted(counts) and counts[-1] == plan.size and plan.missing == 0
    names = {path.name for path in plan.folder.iterdir()}
    assert {"config.json", "model-00001-of-00002.safetensors", "tokenizer.json"} <= names
    assert not names & {"pytorch_model.bin", "README.md"}
    assert cached(NAME) == plan.folder
    paths = [path for method, path, _ in hub.requests if method == "GET" and NAME in path]
    assert len(paths) == 1 + len(plan.files) and len(set(paths)) == len(paths)


def test_downloaded_model_loads_without_another_request(hub):
    download()
    before = len(hub.requests)
    model = load_model(NAME, device="cpu", local_files_only=True)
    assert len(hub.requests) == before and model.name == NAME


def test_downloaded_files_are_found_by_huggingface_hub(hub):
    plan, _ = download()
    before = len(hub.requests)
    patterns = ["*.json", "*.safetensors"]
    assert snapshot_download(NAME, allow_patterns=patterns, endpoint=hub.address) == str(
        plan.folder
    )
    later = hub.requests[before:]
    assert not [path for method, path, _ in later if "resolve" in path and method == "GET"]
    shutil.rmtree(plan.store)
    snapshot_download(NAME, endpoint=hub.address)
    before = len(hub.requests)
    assert plan.missing == 0 and list(fetch(plan, threading.Event()))[-1] == plan.size
    assert cached(NAME) == plan.folder and len(hub.requests) == before


def test_download_resumes_where_the_connection_broke(hub, monkeypatch):
    monkeypatch.setattr(downloading, "_PAUSE_S", 0.0)
    hub.repositories[NAME].breaks = 3
    plan, counts = download()
    assert counts[-1] == plan.size and len(hub.ranges()) == 3
    assert all(part != "bytes=0-" for part in hub.ranges())


@pytest.mark.parametrize("no_ranges", [False, True])
def test_download_is_given_up_after_repeated_broken_connections(hub, monkeypatch, no_ranges):
    monkeypatch.setattr(downloading, "_PAUSE_S", 0.0)
    # with a piece larger than the file, the fake hub breaks off before it sends a byte
    monkeypatch.setattr(local_hub, "PIECE", 10**9)
    hub.repositories[NAME].breaks, hub.repositories[NAME].no_ranges = 10**6, no_ranges
    with pytest.raises(ModelError, match=r"connection.*choose the model again to continue"):
        download()
    hub.repositories[NAME].breaks = 0
    assert cached(NAME) is None
    plan, counts = download()
    assert counts[-1] == plan.size


def test_cancelled_download_keeps_the_bytes_received(hub):
    hub.repositories[NAME].pause_s = 0.1
    plan, stop = list_files(NAME), threading.Event()
    small = plan.size - plan.weights
    counts = fetch(plan, stop)
    next(count for count in counts if count > small)
    stop.set()
    with pytest.raises(StoppedError):
        list(counts)
    received = plan.size - plan.missing
    assert small < received < plan.size
    hub.repositories[NAME].pause_s = 0
    assert list(fetch(plan, threading.Event()))[-1] == plan.size
    assert hub.ranges() == [f"bytes={received - small}-"] and cached(NAME)


@pytest.mark.parametrize(
    ("path", "work"),
    [
        ("/api/", lambda plan, stop: list_files(plan.repo, stop)),
        ("config.json", read_config),
        ("safetensors", lambda plan, stop: list(fetch(plan, stop))),
    ],
)
def test_cancelled_download_ends_soon_even_if_the_hub_is_silent(hub, path, work):
    plan, stop = list_files(NAME), threading.Event()
    hub.repositories[NAME].silent = path
    threading.Timer(0.3, stop.set).start()
    start = time.monotonic()
    with pytest.raises(StoppedError):
        work(plan, stop)
    assert time.monotonic() - start < 10


def test_downloaded_file_with_a_wrong_digest_is_deleted_and_named(hub):
    hub.repositories[NAME].corrupt = True
    with pytest.raises(ModelError, match=r"model-00001-of-00002\.safetensors.*arrived damaged"):
        download()
    assert cached(NAME) is None
    hub.repositories[NAME].corrupt = False
    assert download()[0].missing == 0


@pytest.mark.parametrize(
    "odd", [{"blobId": "../../evil"}, {"blobId": None}, {"size": None}, {"lfs": {"sha256": "../x"}}]
)
def test_hub_listing_without_digest_or_size_is_refused(hub, monkeypatch, odd):
    entry = local_hub.entry
    monkeypatch.setattr(local_hub, "entry", lambda *file: entry(*file) | odd)
    with pytest.raises(ModelError, match="is not a model hub"):
        list_files(NAME)


@pytest.mark.parametrize("name", ["../../evil.json", "sub/model.safetensors", "..\\evil.json"])
def test_files_outside_the_checkpoints_own_folder_are_not_listed(hub, monkeypatch, name):
    entry = local_hub.entry
    monkeypatch.setattr(local_hub, "entry", lambda *file: entry(*file) | {"rfilename": name})
    with pytest.raises(ModelError, match="no weights"):
        list_files(NAME)


def test_address_that_does_not_answer_json_is_reported_as_no_hub(hub, monkeypatch):
    monkeypatch.setattr(local_hub.Answers, "send", lambda answers, _: answers.say(200))
    with pytest.raises(ModelError, match="is not a model hub"):
        list_files(NAME)


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        (None, r"gated: accept its terms at .*tiny/model.*hf auth login"),
        ("hf_wrong", r"refused the token.*hf auth login"),
        (local_hub.TOKEN, None),
    ],
)
def test_gated_model_needs_a_token_with_access(hub, monkeypatch, token, sentence):
    hub.repositories[NAME].gated = True
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    if sentence is None:
        assert download()[0].missing == 0
    else:
        with pytest.raises(ModelError, match=sentence):
            download()


def test_unknown_and_invalid_model_names_are_refused(hub):
    with pytest.raises(ModelError, match="no model no/body"):
        list_files("no/body")
    with pytest.raises(ModelError, match="not the name of a model"):
        list_files("a name with blanks")


def test_checkpoint_without_safetensors_is_refused(hub, tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "pytorch_model.bin").write_bytes(b"")
    hub.repositories["old/model"] = local_hub.Repository(tmp_path / "old")
    with pytest.raises(ModelError, match="no weights in safetensors"):
        list_files("old/model")


def test_missing_network_and_offline_mode_give_different_messages(hub, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="HF_HUB_OFFLINE=1 forbids"):
        list_files(NAME)
    assert not hub.requests
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    ways = "does not answer: .* HF_ENDPOINT .* HF_HOME .* 'hf download .*the downloaded folder"
    with pytest.raises(UnreachableError, match=ways):
        list_files(NAME)


def test_full_disk_is_reported_before_and_during_the_download(hub, monkeypatch):
    plan = list_files(NAME)
    usage = SimpleNamespace(total=0, used=0, free=downloading._SPARE + plan.size - 1)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda _: usage)
        with pytest.raises(ModelError, match=r"GB are free: make room, or set HF_HOME"):
            list(fetch(plan, threading.Event()))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(downloading, "_append", full)
    with pytest.raises(ModelError, match="The disk is full"):
        list(fetch(plan, threading.Event()))


def test_server_without_range_support_sends_the_file_again(hub):
    plan = list_files(NAME)
    weights = plan.files[-1]
    plan.part(weights).parent.mkdir(parents=True)
    plan.part(weights).write_bytes(b"some")
    hub.repositories[NAME].no_ranges = True
    assert list(fetch(plan, threading.Event()))[-1] == plan.size
    assert cached(NAME) == plan.folder


def test_second_download_of_a_checkpoint_is_refused_while_the_first_runs(hub):
    plan, stop = list_files(NAME), threading.Event()
    first = fetch(plan, stop)
    next(first)
    with pytest.raises(ModelError, match="is being downloaded already"):
        next(fetch(plan, stop))
    first.close()
    assert list(fetch(plan, stop))[-1] == plan.size


PROGRAM = """
import sys, threading
from gleanvid.models.loading.download import fetch
from gleanvid.models.loading.listing import list_files
for count in fetch(list_files("tiny/model"), threading.Event()):
    print(count, flush=True)
print(sorted({"torch", "transformers"} & set(sys.modules)))
"""


def other_process(hub, cache, **env):
    """Start the same download in another process, with the hub's address in its environment."""
    env = os.environ | {"HF_ENDPOINT": hub.address, "HF_HUB_CACHE": str(cache)} | env
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", PROGRAM], env=env, **pipes)


def test_next_process_resumes_the_download_of_a_killed_one(hub):
    hub.repositories[NAME].pause_s = 0.5
    plan = list_files(NAME)
    killed = other_process(hub, constants.HF_HUB_CACHE)
    while not any(int(line) > plan.size - plan.weights for line in killed.stdout):
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert plan.size - plan.weights <= plan.size - plan.missing < plan.size
    hub.repositories[NAME].pause_s = 0
    last = other_process(hub, constants.HF_HUB_CACHE)
    lines, problems = last.communicate(timeout=60)
    assert last.returncode == 0, problems
    # "[]": the other process imported neither torch nor transformers
    assert lines.splitlines()[-2:] == [str(plan.size), "[]"]
    assert hub.ranges() and plan.missing == 0 and cached(NAME) == plan.folder
