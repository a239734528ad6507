"""The running app under more than it takes, and asked for files that are not a visitor's."""

from __future__ import annotations

import time
from dataclasses import replace

import httpx
import pytest

from components.panels.page import build_app
from components.server import serving
from components.session.work.engine import Engine
from tests.components.fake import FakeBackend, write_clip

LIMITS = replace(serving.PUBLIC, upload_mb=1, requests_per_minute=0, keep_s=2, queue=1)

ARGUMENTS = ["What?", "gleanvid", 0.25, "", 8, None, 0, 0.0, 8, 1.0, 0]  # of /ask, in order


@pytest.fixture(scope="module")
def library():
    return FakeBackend()


@pytest.fixture(scope="module")
def address(library):
    page = build_app(Engine(library), limits=LIMITS)
    options = serving.options("127.0.0.1", None, False, LIMITS) | {"max_threads": 1}
    launch = options | {"prevent_thread_lock": True, "quiet": True}
    _, url, _ = page.queue(max_size=LIMITS.queue).launch(**launch)
    yield url.rstrip("/") + "/gradio_api"
    page.close()


def upload(address, *sizes):
    files = [("files", (f"{size}.mp4", bytes(size))) for size in sizes]
    return httpx.post(f"{address}/upload", files=files)


def test_uploads_beyond_the_limit_are_refused(address):
    assert upload(address, 900_000).status_code == 200
    assert upload(address, 1_100_000).status_code == 413  # one file: Gradio
    assert upload(address, *[900_000] * 3).status_code == 413  # one upload: the guard


def test_an_upload_is_deleted_once_it_is_old(address):
    file = f"{address}/file={upload(address, 1_000).json()[0]}"
    assert httpx.get(file).status_code == 200
    end = time.monotonic() + 20
    while httpx.get(file).status_code == 200 and time.monotonic() < end:
        time.sleep(0.2)
    assert httpx.get(file).status_code in (403, 404)


def test_beyond_its_places_the_queue_refuses(address, library, tmp_path):
    write_clip(tmp_path / "clip.mp4")
    content = (tmp_path / "clip.mp4").read_bytes()
    sent = httpx.post(f"{address}/upload", files={"files": ("clip.mp4", content)})
    data = [{"path": sent.json()[0], "meta": {"_type": "gradio.FileData"}}, *ARGUMENTS]
    library.pause_s = 0.5
    replies = [httpx.post(f"{address}/call/ask", json={"data": data}) for _ in range(8)]
    assert replies[0].status_code == 200
    assert {reply.status_code for reply in replies[1:]} >= {503}
    assert "full" in next(reply.text for reply in replies if reply.status_code == 503)


@pytest.mark.parametrize(
    "path",
    [
        "app.py",
        "components/server/guard.py",
        "README.md",
        ".git/config",
        ".git",
        "tests/test_app.py",
    ],
)
def test_no_file_of_the_repository_is_served(address, path):
    for name in (path, serving.ROOT / path, f"{serving.ROOT}/assets/../{path}"):
        assert httpx.get(f"{address}/file={name}").status_code in (403, 404)
