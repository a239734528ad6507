"""What one visitor may upload and ask, and that other visitors cannot reach it."""

import os
import threading
from contextlib import suppress
from dataclasses import replace

import httpx
import pytest

from components.jobs.engine import Engine
from components.server import serving
from components.server.allowed import FILE, GRADIO
from tests.components.fake import FakeBackend, write_clip
from tests.components.server.running import answered, ask, file, join, running, upload, wait_until


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    path = tmp_path_factory.mktemp("clip") / "clip.mp4"
    write_clip(path)
    return path.read_bytes()


class Held(FakeBackend):
    """Backend that answers once ``go_on`` is set."""

    def __init__(self):
        super().__init__()
        self.go_on = threading.Event()

    def stream_answer(self, question, model, stop):
        self.go_on.wait(60)
        yield from super().stream_answer(question, model, stop)


def test_events_and_upload_bytes_of_one_visitor_are_limited(clip):
    engine = Engine(Held())
    limits = replace(serving.PUBLIC, events=2, visitor_mb=3)
    with running(limits, engine) as url:
        path = upload(url, clip).json()[0]
        asked = [ask(url, path) for _ in range(4)]
        assert [reply.status_code for reply in asked] == [200, 200, 429, 429]
        engine.backend.go_on.set()
        assert all("event: complete" in answered(url, reply) for reply in asked[:2])
        assert wait_until(lambda: ask(url, path).status_code == 200, 30.0)
        sent = [upload(url, clip).status_code for _ in range(3)]
        assert sent == [200, 200, 429]  # an upload counts as at least 1 MiB


def test_each_visitor_behind_a_trusted_proxy_has_a_share_of_its_own(clip):
    limits = replace(serving.PUBLIC, visitor_mb=1)
    with running(limits, proxies=["127.0.0.1"]) as url, httpx.Client(base_url=url) as client:
        sent = []
        for visitor in ("1.2.3.4", "1.2.3.4", "5.6.7.8"):
            headers, files = {"x-forwarded-for": visitor}, {"files": ("a.mp4", clip)}
            sent.append(client.post(f"{GRADIO}/upload", files=files, headers=headers))
        assert [reply.status_code for reply in sent] == [200, 429, 200]


@pytest.fixture(scope="module")
def address():
    limits = replace(serving.PUBLIC, upload_mb=1, events=0, queue=1)
    engine, patch = Engine(Held()), pytest.MonkeyPatch()
    patch.setattr(serving, "SWEEP_S", 0.5)
    options = serving.options
    patch.setattr(serving, "options", lambda *given: options(*given) | {"max_threads": 1})
    with running(limits, engine) as url:
        yield url
        engine.backend.go_on.set()
    patch.undo()


def test_uploads_beyond_the_limit_are_refused(address):
    assert upload(address, bytes(900_000)).status_code == 200
    assert upload(address, bytes(1_100_000)).status_code == 413  # Gradio's limit for one file
    # our own limit for all files of one upload
    assert upload(address, *[bytes(900_000)] * 3).status_code == 413


def test_old_uploads_are_deleted(address):
    path = upload(address, bytes(1_000)).json()[0]
    assert httpx.get(f"{address}{FILE}{path}").status_code == 200
    os.utime(path, (0, 0))
    assert wait_until(lambda: not os.path.exists(path))
    assert httpx.get(f"{address}{FILE}{path}").status_code in (403, 404)


def test_full_queue_refuses_every_kind_of_request(address, clip):
    path = upload(address, clip).json()[0]
    replies = [ask(address, path) for _ in range(8)]
    assert replies[0].status_code == 200
    assert "full" in next(reply.text for reply in replies if reply.status_code == 503)
    events = httpx.get(f"{address}/config").json()["dependencies"]
    queued = next(event["id"] for event in events if event["queue"] and event["backend_fn"])
    sent = {"fn_index": queued, "data": [], "session_hash": "x"}
    reply = httpx.post(f"{address}{GRADIO}/run/predict", json=sent)
    assert reply.status_code == 404


def test_only_the_newest_results_wait_to_be_fetched(clip, monkeypatch):
    monkeypatch.setattr(serving, "SESSIONS", 2)
    engine = Engine(FakeBackend())
    with running(serving.LOCAL, engine) as url:
        path = upload(url, clip).json()[0]
        asked = []
        for _ in range(4):
            asked.append(ask(url, path))
            assert wait_until(lambda: engine.backend.closed.is_set())
            engine.backend.closed.clear()
        assert "event: complete" in answered(url, asked[-1])
        assert "word0" not in streamed(f"{url}{GRADIO}/call/ask/{asked[0].json()['event_id']}")


@pytest.fixture
def running_event(clip):
    """The address of a server, the backend that holds an event, and the event's session and id."""
    engine = Engine(Held())
    with running(serving.PUBLIC, engine) as url:
        values = [file(upload(url, clip).json()[0]), "What?", "gleanvid", 0.25, "", 8]
        event = join(url, "ask", [*values, None, 0, 0.0, 8, 1.0, 0], "owner").json()["event_id"]
        assert wait_until(lambda: len(engine.queue), 30.0)
        yield url, engine, event
        engine.backend.go_on.set()


def test_another_session_can_neither_cancel_an_event_nor_read_its_result(running_event):
    url, engine, event = running_event
    events = httpx.get(f"{url}/config").json()["dependencies"]
    number = next(one["id"] for one in events if one["api_name"] == "ask")
    for session, named in (("stranger", event), ("stranger", "a" * 32), ("owner_", "a" * 32)):
        sent = {"session_hash": session, "fn_index": number, "event_id": named}
        httpx.post(f"{url}{GRADIO}/cancel", json=sent)
    assert event not in streamed(f"{url}{GRADIO}/queue/data?session_hash=stranger")
    assert "complete" not in streamed(f"{url}{GRADIO}/call/ask/{'a' * 32}")
    assert len(engine.queue) == 1  # nothing has ended the event
    engine.backend.go_on.set()
    assert "word0" in streamed(f"{url}{GRADIO}/queue/data?session_hash=owner")


def streamed(address):
    """Return the messages at an address until their stream ends or breaks off."""
    parts = []
    stream = httpx.stream("GET", address, timeout=60)
    with suppress(httpx.RemoteProtocolError), stream as reply:
        parts.extend(reply.iter_bytes())
    return b"".join(parts).decode()


def test_path_of_an_upload_cannot_be_derived_from_its_content(address):
    first, second = (upload(address, bytes(1_000)).json()[0] for _ in range(2))
    assert first != second and first.rpartition("/")[2] == second.rpartition("/")[2]
    guessed = first.replace(first.split("/")[-2], "0" * 64)
    assert httpx.get(f"{address}{FILE}{guessed}").status_code in (403, 404)
