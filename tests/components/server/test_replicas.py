"""Replicas for Ray Serve return the app's answers and refuse invalid requests."""

import json
import socket
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("ray.serve", reason="Ray Serve is not installed (extra: ray)")

import httpx
from ray import serve
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from components.jobs.engine import Engine
from components.jobs.local import LocalBackend
from components.jobs.queue import ModelQueue
from components.server import replicas
from components.server.endpoints import Calls
from gleanvid.api import pipeline
from tests.components.fake import write_clip

NOTICED = 3.0  # seconds until Serve's router knows which replica holds a clip
SETTINGS = {"max_frames": 16, "upload_mb": 1}


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    path = tmp_path_factory.mktemp("clips") / "clip.mp4"
    write_clip(path)
    return path


HERE = SimpleNamespace(replica_id=SimpleNamespace(unique_id="here"))


@pytest.fixture(scope="module")
def replica():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serve, "get_replica_context", lambda: HERE)
        return replicas.Replica(**SETTINGS)


@pytest.fixture(scope="module")
def alone(replica):
    async def answer(request):
        return await replica(request)

    routes = [Route("/{path:path}", answer, methods=["GET", "POST"])]
    return TestClient(Starlette(routes=routes))


def post(server, route, clip, key="", **arguments):
    headers = {"serve_multiplexed_model_id": key} if key else {}
    files = {"video": ("clip.mp4", clip.read_bytes())}
    data = {"arguments": json.dumps(arguments)}
    return server.post(f"/{route}", files=files, data=data, headers=headers)


@pytest.fixture
def calls(monkeypatch, clip):
    """Return the app's endpoints in this process, and their ``video`` argument for a clip."""
    monkeypatch.setattr("components.server.uploads.get_upload_folder", lambda: str(clip.parent))
    return Calls(Engine(LocalBackend({})), ["builtin"], 16), {"path": str(clip)}


def test_clip_uploaded_twice_is_encoded_once(alone, clip, replica):
    costs = [
        post(alone, "ask", clip, question=text, frames=6, max_new_tokens=2).json()["cost"]
        for text in ("What moves?", "Where is it?")
    ]
    assert costs[0]["encode_s"] == costs[1]["encode_s"] > 0
    assert len(list(replica.files)) == 1


def test_number_of_stored_uploads_is_bounded(replica):
    paths = [replica._keep(bytes([number])) for number in range(replicas.FILES + 3)]
    assert [path.exists() for path in paths] == [False] * 3 + [True] * replicas.FILES


@pytest.mark.parametrize(
    ("route", "arguments", "status", "told"),
    [
        ("ask", {}, 400, "question"),
        ("ask", {"question": " ", "frames": 4}, 400, "Type a question first"),
        ("compress", {"frames": 99}, 400, "frames=99 must be a whole number in [1, 16]"),
        ("compress", {"compressor": "x"}, 400, "compressor"),
        ("compress", {"video": "elsewhere.mp4"}, 400, "arguments must be a JSON object"),
        ("compress", {"size": 3}, 400, "size"),
        ("look", {}, 404, "ask, compress, compare"),
    ],
)
def test_invalid_requests_to_a_replica_are_refused_with_a_reason(
    alone, clip, route, arguments, status, told
):
    reply = post(alone, route, clip, **arguments)
    assert reply.status_code == status and told in reply.json()["error"]


def test_form_without_a_clip_is_refused(alone):
    assert alone.post("/compress", data={"arguments": "{}"}).status_code == 400
    assert alone.get("/ask").status_code == 404
    assert alone.get("/healthz").json() == {"ready": True}


def test_file_that_is_no_video_or_too_large_is_refused(alone, tmp_path):
    (tmp_path / "text").write_text("not a video")
    reply = post(alone, "compress", tmp_path / "text")
    assert reply.status_code == 400 and reply.json()["error"]
    (tmp_path / "large").write_bytes(bytes(2**20 + 1))
    assert post(alone, "compress", tmp_path / "large").status_code == 413


def test_size_limit_counts_received_bytes_not_content_length(alone):
    def large():
        yield b'--x\r\nContent-Disposition: form-data; name="video"; filename="v.mp4"\r\n\r\n'
        for _ in range(5):
            yield bytes(2**18)

    headers = {"content-type": "multipart/form-data; boundary=x"}
    reply = alone.post("/compress", content=large(), headers=headers)
    assert "content-length" not in reply.request.headers
    assert reply.status_code == 413 and "too large" in reply.json()["error"]
    for length in ("many", "-1"):
        reply = alone.post("/compress", content=b"", headers={"content-length": length})
        assert reply.status_code == 400 and "form" in reply.json()["error"]


def test_request_to_a_full_queue_gets_503_with_retry_after(alone, clip, replica, monkeypatch):
    monkeypatch.setattr(replica.engine, "queue", ModelQueue(60.0, -1))
    reply = post(alone, "compress", clip, frames=4)
    assert reply.status_code == 503 and int(reply.headers["retry-after"]) > 0


def test_replica_loads_its_model_with_the_given_options(monkeypatch):
    seen = []
    monkeypatch.setattr(serve, "get_replica_context", lambda: HERE)
    monkeypatch.setattr(pipeline, "load_model", lambda name, **given: seen.append((name, given)))
    told = {"model": "a/b", "quantization": "4bit", "device_map": "auto", "max_pixels": "999"}
    bound = replicas.build(told)
    replicas.Replica(**bound._bound_deployment.init_kwargs)
    assert seen == [("a/b", {"quantization": "4bit", "device_map": "auto", "max_pixels": 999})]


def test_error_about_an_unknown_serve_argument_lists_the_known_arguments():
    with pytest.raises(ValueError, match=r"'models' must be one of .*model, num_replicas"):
        replicas.build({"models": "x"})


@pytest.fixture(scope="module")
def server(ray_workers):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    serve.run(replicas.build({"num_replicas": "2", **SETTINGS}))
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
        yield client
    serve.shutdown()


def test_replicas_give_the_answers_of_the_app(server, clip, calls):
    here, video = calls
    expected = json.loads(json.dumps(here.compress(video, "gleanvid", 0.3, frames=8)))
    replies = [post(server, "compress", clip, retention_ratio=0.3, frames=8) for _ in range(12)]
    assert all(reply.json() == expected for reply in replies)
    assert len({reply.headers["x-gleanvid-replica"] for reply in replies}) == 2
    assert post(server, "compress", clip, frames=99).status_code == 400


def test_requests_for_a_named_clip_go_to_the_replica_that_encoded_it(server, clip):
    for key in ("a", "b", "c"):
        first = post(server, "compress", clip, key, frames=8)
        time.sleep(NOTICED)
        later = [post(server, "compress", clip, key, frames=8) for _ in range(6)]
        names = {reply.headers["x-gleanvid-replica"] for reply in [first, *later]}
        assert len(names) == 1
