from __future__ import annotations

import os
import threading
import time
from dataclasses import replace

import httpx
import pytest

from components.server import serving
from components.server.allowed import GRADIO as G
from components.session.work.engine import Engine
from tests.components.fake import FakeBackend, write_clip
from tests.server.running import running, wait_until

# arguments of the endpoint /ask after the clip, in order
ARGUMENTS = ["What?", "gleanvid", 0.25, "", 8, None, 0, 0.0, 8, 1.0, 0]


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


@pytest.fixture
def held():
    return Engine(Held())


def upload(address, *contents):
    files = [("files", (f"{len(content)}.mp4", content)) for content in contents]
    return httpx.post(f"{address}/upload", files=files)


def ask(address, clip):
    data = [{"path": clip, "meta": {"_type": "gradio.FileData"}}, *ARGUMENTS]
    return httpx.post(f"{address}/call/ask", json={"data": data})


def test_gradio_events_and_upload_bytes_of_one_visitor_are_limited(held, clip):
    limits = replace(serving.PUBLIC, events=2, visitor_mb=3)
    with running(limits, held) as url:
        path = upload(url + G, clip).json()[0]
        told = [ask(url + G, path).status_code for _ in range(4)]
        assert told == [200, 200, 429, 429]
        held.backend.go_on.set()
        assert wait_until(lambda: ask(url + G, path).status_code == 200, 30.0)
        sent = [upload(url + G, clip).status_code for _ in range(3)]
        assert sent == [200, 200, 429]  # an upload counts as at least 1 MiB


def test_cancelled_gradio_event_counts_until_its_function_has_ended(held, clip):
    with running(replace(serving.PUBLIC, events=1), held) as url:
        events = httpx.get(f"{url}/config").json()["dependencies"]
        number = next(event["id"] for event in events if event["api_name"] == "ask")
        file = {"path": upload(url + G, clip).json()[0], "meta": {"_type": "gradio.FileData"}}
        call = {"data": [file, *ARGUMENTS], "fn_index": number, "session_hash": "one"}

        def joined():
            return httpx.post(f"{url}{G}/queue/join", json=call)

        event = joined().json()["event_id"]
        assert wait_until(held.queue.asked, 30.0)
        named = {"fn_index": number, "session_hash": "one", "event_id": event}
        assert httpx.post(f"{url}{G}/cancel", json=named).json() == {"success": True}
        assert joined().status_code == 429
        held.backend.go_on.set()
        assert wait_until(lambda: joined().status_code == 200, 30.0)


@pytest.mark.parametrize("how", ["cancels", "disconnects"])
def test_comparison_starts_no_further_run_once_the_caller_cancels_or_disconnects(how, clip):
    engine = Engine(FakeBackend(pause_s=0.3, words=1000))
    with running(engine=engine) as url:
        events = httpx.get(f"{url}/config").json()["dependencies"]
        number = next(event["id"] for event in events if event["api_name"] == "compare")
        file = {"path": upload(url + G, clip).json()[0], "meta": {"_type": "gradio.FileData"}}
        named = {"fn_index": number, "session_hash": "one"}
        call = named | {"data": [file, "What?", ["uniform", "gleanvid"], [0.25, 0.5], "", 8]}
        event = httpx.post(f"{url}{G}/queue/join", json=call).json()["event_id"]
        with httpx.stream("GET", f"{url}{G}/queue/data?session_hash=one") as data:
            assert next(data.iter_raw())
            assert wait_until(lambda: engine.backend.asked, 30.0)
            assert len(engine.queue) == 1
            if how == "cancels":
                httpx.post(f"{url}{G}/cancel", json=named | {"event_id": event})
        assert wait_until(lambda: not len(engine.queue), 30.0)
        asked = engine.backend.asked
        time.sleep(1.0)
        assert engine.backend.asked is asked and not len(engine.queue)


@pytest.fixture(scope="module")
def address():
    engine = Engine(Held())
    limits = replace(serving.PUBLIC, upload_mb=1, requests_per_minute=0, events=0, queue=1)
    patch = pytest.MonkeyPatch()
    patch.setattr(serving, "SWEEP_S", 0.5)
    options = serving.options
    patch.setattr(serving, "options", lambda *given: options(*given) | {"max_threads": 1})
    with running(limits, engine) as url:
        yield url + G
        engine.backend.go_on.set()
    patch.undo()


def test_uploads_beyond_the_limit_are_refused(address):
    assert upload(address, bytes(900_000)).status_code == 200
    assert upload(address, bytes(1_100_000)).status_code == 413  # Gradio's limit for one file
    # our own limit for all files of one upload
    assert upload(address, *[bytes(900_000)] * 3).status_code == 413


def test_path_of_an_upload_cannot_be_derived_from_its_content(address):
    first, second = (upload(address, bytes(1_000)).json()[0] for _ in range(2))
    assert first != second and first.rpartition("/")[2] == second.rpartition("/")[2]


def test_old_uploads_are_deleted(address):
    path = upload(address, bytes(1_000)).json()[0]
    file = f"{address}/file={path}"
    assert httpx.get(file).status_code == 200
    os.utime(path, (0, 0))
    assert wait_until(lambda: not os.path.exists(path))
    assert httpx.get(file).status_code in (403, 404)


def test_full_queue_refuses_every_kind_of_request(address, clip):
    path = upload(address, clip).json()[0]
    replies = [ask(address, path) for _ in range(8)]
    assert replies[0].status_code == 200
    assert "full" in next(reply.text for reply in replies if reply.status_code == 503)
    events = httpx.get(f"{address.removesuffix(G)}/config").json()["dependencies"]
    queued = next(event["id"] for event in events if event["queue"] and event["backend_fn"])
    sent = {"fn_index": queued, "data": [], "session_hash": "x"}
    assert httpx.post(f"{address}/run/predict", json=sent).status_code == 404
