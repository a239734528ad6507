"""A checkpoint is downloaded whole or the reason is said; what is here is never fetched again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from huggingface_hub import constants, snapshot_download

from gleanvid.errors import ModelError, StoppedError, UnreachableError
from gleanvid.models import load_model
from gleanvid.models.loading import download as fetching
from gleanvid.models.loading.download import fetched
from gleanvid.models.loading.hub import cached
from gleanvid.models.loading.listing import listed
from tests import local_hub

pytestmark = pytest.mark.slow
NAME = "tiny/model"


def download(name=NAME, stop=None):
    plan = listed(name)
    return plan, list(fetched(plan, stop or threading.Event()))


def test_what_loading_needs_comes_in_two_listings_and_one_request_a_file(hub):
    plan, counts = download()
    assert counts == sorted(counts) and counts[-1] == plan.size and plan.missing == 0
    names = {path.name for path in plan.folder.iterdir()}
    assert {"config.json", "model-00001-of-00002.safetensors", "tokenizer.json"} <= names
    assert not names & {"pytorch_model.bin", "README.md"}
    assert cached(NAME) == plan.folder
    got = [path for method, path, _ in hub.asked if method == "GET" and NAME in path]
    assert len(got) == 2 + len(plan.parts) and len(set(got)) == len(got)


def test_it_loads_without_another_request_and_answers_as_its_folder(hub):
    download()
    asked = len(hub.asked)
    model = load_model(NAME, device="cpu", local_files_only=True)
    assert len(hub.asked) == asked and model.name == NAME


def test_the_cache_is_that_of_huggingface_hub(hub):
    plan, _ = download()
    asked = len(hub.asked)
    found = snapshot_download(
        NAME, allow_patterns=["*.json", "*.safetensors"], endpoint=hub.address
    )
    assert str(plan.folder) == found
    assert not [
        path for method, path, _ in hub.asked[asked:] if "resolve" in path and method == "GET"
    ]


def test_what_huggingface_hub_downloaded_is_not_downloaded_again(hub):
    snapshot_download(NAME, endpoint=hub.address)
    plan = listed(NAME)
    assert plan.missing == 0 and cached(NAME) == plan.folder
    asked = len(hub.asked)
    list(fetched(plan, threading.Event()))
    assert len(hub.asked) == asked


def test_a_connection_that_breaks_is_made_again_where_it_broke(hub, monkeypatch):
    monkeypatch.setattr(fetching, "_PAUSE_S", 0.0)
    hub.repositories[NAME].breaks = 3
    plan, counts = download()
    assert counts[-1] == plan.size and len(hub.ranges()) == 3
    assert all(part != "bytes=0-" for part in hub.ranges())


def test_one_that_breaks_for_good_says_so_and_the_next_call_goes_on(hub, monkeypatch):
    monkeypatch.setattr(fetching, "_PAUSE_S", 0.0)
    monkeypatch.setattr(fetching, "_TRIES", 1)
    monkeypatch.setattr(local_hub, "PIECE", 10**9)  # nothing comes before it breaks
    hub.repositories[NAME].breaks = 10**6
    with pytest.raises(ModelError, match=r"connection.*choose it again to go on"):
        download()
    hub.repositories[NAME].breaks = 0
    assert cached(NAME) is None
    plan, counts = download()
    assert counts[-1] == plan.size


def test_cancelling_takes_effect_at_once_and_keeps_what_is_here(hub):
    hub.repositories[NAME].pause_s = 0.02
    plan, stop = listed(NAME), threading.Event()
    counts = fetched(plan, stop)
    reached = next(count for count in counts if count > plan.size - plan.weights)
    stop.set()
    with pytest.raises(StoppedError):
        next(counts)
    assert plan.size - plan.missing == reached < plan.size
    hub.repositories[NAME].pause_s = 0
    assert list(fetched(plan, threading.Event()))[-1] == plan.size
    begun = reached - (plan.size - plan.weights)
    assert hub.ranges() == [f"bytes={begun}-"] and cached(NAME)


def test_damaged_files_are_deleted_and_named(hub):
    hub.repositories[NAME].corrupt = True
    with pytest.raises(ModelError, match=r"model-00001-of-00002\.safetensors.*came damaged"):
        download()
    assert cached(NAME) is None
    hub.repositories[NAME].corrupt = False
    assert download()[0].missing == 0


def test_a_mirror_can_name_no_file_outside_and_send_no_more_than_it_said(hub, monkeypatch):
    entry = local_hub.entry
    with monkeypatch.context() as patched:
        evil = {"oid": "../../evil"}
        patched.setattr(local_hub, "entry", lambda *file: entry(*file) | evil)
        with pytest.raises(ModelError, match="is no hub"):
            listed(NAME)
    plan = listed(NAME)
    weights = replace(plan.parts[-1], size=local_hub.PIECE)
    shorter = replace(plan, parts=(weights,))
    with pytest.raises(ModelError, match="came damaged"):
        list(fetched(shorter, threading.Event()))
    assert not list(plan.store.rglob("*.safetensors")) and plan.here(weights) == 0


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        (None, r"gated: accept its terms at .*tiny/model.*hf auth login"),
        ("hf_wrong", r"refused the token.*hf auth login"),
        (local_hub.TOKEN, None),
    ],
)
def test_a_gated_model(hub, monkeypatch, token, sentence):
    hub.repositories[NAME].gated = True
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    if sentence is None:
        assert download()[0].missing == 0
    else:
        with pytest.raises(ModelError, match=sentence):
            download()


def test_names_that_nobody_has(hub):
    with pytest.raises(ModelError, match="no model no/body"):
        listed("no/body")
    with pytest.raises(ModelError, match="no name of a model"):
        listed("a name with blanks")


def test_no_safetensors(hub, tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "pytorch_model.bin").write_bytes(b"")
    hub.repositories["old/model"] = local_hub.Repository(tmp_path / "old")
    with pytest.raises(ModelError, match="no weights as safetensors"):
        listed("old/model")


def test_no_network_and_offline_mode_say_different_things(hub, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    asked = len(hub.asked)
    with pytest.raises(ModelError, match="HF_HUB_OFFLINE=1 forbids"):
        listed(NAME)
    assert len(hub.asked) == asked
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    ways = "does not answer: .* HF_ENDPOINT .* HF_HOME .* 'hf download tiny/model' .* the folder"
    with pytest.raises(UnreachableError, match=ways):
        listed(NAME)


def test_a_full_disk(hub, monkeypatch):
    plan = listed(NAME)
    usage = SimpleNamespace(total=0, used=0, free=fetching._SPARE + plan.size - 1)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda _: usage)
        with pytest.raises(ModelError, match=r"GB are free: make room, or set HF_HOME"):
            list(fetched(plan, threading.Event()))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(fetching, "_read", full)
    with pytest.raises(ModelError, match="The disk is full"):
        list(fetched(plan, threading.Event()))


def test_a_server_that_knows_no_parts_sends_the_file_anew(hub):
    plan = listed(NAME)
    weights = plan.parts[-1]
    plan.unfinished(weights).parent.mkdir(parents=True)
    plan.unfinished(weights).write_bytes(b"some")
    hub.repositories[NAME].no_parts = True
    assert list(fetched(plan, threading.Event()))[-1] == plan.size
    assert cached(NAME) == plan.folder


def test_two_at_once_are_not_let(hub):
    plan, stop = listed(NAME), threading.Event()
    first = fetched(plan, stop)
    next(first)
    with pytest.raises(ModelError, match="is being downloaded already"):
        next(fetched(plan, stop))
    first.close()
    assert list(fetched(plan, stop))[-1] == plan.size


PROGRAM = """
import sys, threading
from gleanvid.models.loading.download import fetched
from gleanvid.models.loading.listing import listed
from gleanvid.models.loading.listing import listed
for count in fetched(listed("tiny/model"), threading.Event()):
    print(count, flush=True)
print(sorted({"torch", "transformers"} & set(sys.modules)))
"""


def other_process(hub, cache, **env):
    """The same download by a process of its own, which knows the hub from its environment."""
    given = os.environ | {"HF_ENDPOINT": hub.address, "HF_HUB_CACHE": str(cache)} | env
    ends = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", PROGRAM], env=given, **ends)


def test_a_process_that_was_killed_leaves_what_the_next_one_goes_on_with(hub):
    hub.repositories[NAME].pause_s = 0.05
    plan = listed(NAME)
    killed = other_process(hub, constants.HF_HUB_CACHE)
    while not any(int(line) > plan.size - plan.weights for line in killed.stdout):
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    here = plan.size - plan.missing
    assert plan.size - plan.weights <= here < plan.size
    hub.repositories[NAME].pause_s = 0
    last = other_process(hub, constants.HF_HUB_CACHE)
    told, problems = last.communicate(timeout=60)
    assert last.returncode == 0, problems
    assert told.splitlines()[-2:] == [str(plan.size), "[]"]  # neither torch nor transformers
    assert plan.missing == 0 and cached(NAME) == plan.folder


def test_offline_mode_of_the_environment_asks_nobody(hub):
    asked = len(hub.asked)
    offline = other_process(hub, constants.HF_HUB_CACHE, HF_HUB_OFFLINE="1")
    assert "HF_HUB_OFFLINE=1 forbids downloads" in offline.communicate(timeout=60)[1]
    assert offline.returncode and len(hub.asked) == asked
