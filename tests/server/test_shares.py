"""Per-visitor limits on uploads, disk and events of a running server."""

from __future__ import annotations

import time
from dataclasses import replace

import httpx
import pytest

from components.server import serving
from components.server.allowed import GRADIO as G
from components.session.work.engine import Engine
from tests.components.fake import FakeBackend, write_clip
from tests.server.running import running

ARGUMENTS = [
    "What?",
    "gleanvid",
    0.25,
    "",
    8,
    None,
    0,
    0.0,
    8,
    1.0,
    0,
]  # arguments of /ask, in order


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    path = tmp_path_factory.mktemp("clip") / "clip.mp4"
    write_clip(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def slow():
    """Engine whose answers take a while."""
    library = FakeBackend()
    library.pause_s = 0.5
    return Engine(library)


def upload(address, *contents):
    files = [("files", (f"{len(content)}.mp4", content)) for content in contents]
    return httpx.post(f"{address}/upload", files=files)


def ask(address, clip):
    data = [{"path": clip, "meta": {"_type": "gradio.FileData"}}, *ARGUMENTS]
    return httpx.post(f"{address}/call/ask", json={"data": data})


def test_one_visitor_has_so_many_events_and_so_many_bytes(slow, clip):
    limits = replace(serving.PUBLIC, events=2, visitor_mb=3)
    with running(limits, slow) as url:
        path = upload(url + G, clip).json()[0]
        told = [ask(url + G, path).status_code for _ in range(4)]
        assert told == [200, 200, 429, 429]
        end = time.monotonic() + 30
        while ask(url + G, path).status_code == 429:
            assert time.monotonic() < end
            time.sleep(0.2)
        sent = [upload(url + G, clip).status_code for _ in range(3)]
        assert sent == [200, 200, 429]  # any upload counts at least a MiB


@pytest.fixture(scope="module")
def address(slow):
    limits = replace(serving.PUBLIC, upload_mb=1, requests_per_minute=0, events=0, queue=1)
    patch = pytest.MonkeyPatch()
    patch.setattr(serving, "SWEEP_S", 0.5)
    options = serving.options
    patch.setattr(serving, "options", lambda *given: options(*given) | {"max_threads": 1})
    with running(replace(limits, keep_s=2), slow) as url:
        yield url + G
    patch.undo()


def test_uploads_beyond_the_limit_are_refused(address):
    assert upload(address, bytes(900_000)).status_code == 200
    assert upload(address, bytes(1_100_000)).status_code == 413  # Gradio's limit for one file
    assert (
        upload(address, *[bytes(900_000)] * 3).status_code == 413
    )  # the guard's limit for one upload


def test_address_of_an_upload_does_not_follow_from_its_content(address):
    first, second = (upload(address, bytes(1_000)).json()[0] for _ in range(2))
    assert first != second and first.rpartition("/")[2] == second.rpartition("/")[2]


def test_old_uploads_are_deleted(address):
    file = f"{address}/file={upload(address, bytes(1_000)).json()[0]}"
    assert httpx.get(file).status_code == 200
    end = time.monotonic() + 20
    while httpx.get(file).status_code == 200 and time.monotonic() < end:
        time.sleep(0.2)
    assert httpx.get(file).status_code in (403, 404)


def test_full_queue_refuses_and_cannot_be_bypassed(address, clip):
    path = upload(address, clip).json()[0]
    replies = [ask(address, path) for _ in range(8)]
    assert replies[0].status_code == 200
    assert "full" in next(reply.text for reply in replies if reply.status_code == 503)
    events = httpx.get(f"{address.removesuffix(G)}/config").json()["dependencies"]
    queued = next(event["id"] for event in events if event["queue"] and event["backend_fn"])
    sent = {"fn_index": queued, "data": [], "session_hash": "x"}
    assert httpx.post(f"{address}/run/predict", json=sent).status_code == 404
