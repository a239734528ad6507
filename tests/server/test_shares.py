"""On a public server one visitor leaves uploads and turns to the others."""

from __future__ import annotations

import time
from dataclasses import replace

import httpx
import pytest

from components.server import serving
from components.session.work.engine import Engine
from tests.components.fake import FakeBackend, write_clip
from tests.server.running import running
from tests.server.target import G

LIMITS = replace(serving.PUBLIC, events=2, visitor_mb=3)
ARGUMENTS = ["What?", "gleanvid", 0.25, "", 8, None, 0, 0.0, 8, 1.0, 0]  # of /ask, in order


@pytest.fixture(scope="module")
def library():
    return FakeBackend()


@pytest.fixture(scope="module")
def address(library):
    with running(LIMITS, Engine(library)) as url:
        yield url + G


def test_a_visitor_has_so_many_turns_and_so_many_bytes(address, library, tmp_path):
    write_clip(tmp_path / "clip.mp4")
    files = {"files": ("clip.mp4", (tmp_path / "clip.mp4").read_bytes())}
    path = httpx.post(f"{address}/upload", files=files).json()[0]
    data = [{"path": path, "meta": {"_type": "gradio.FileData"}}, *ARGUMENTS]
    library.pause_s = 0.5
    told = [httpx.post(f"{address}/call/ask", json={"data": data}).status_code for _ in range(4)]
    assert told == [200, 200, 429, 429]
    end = time.monotonic() + 30
    while httpx.post(f"{address}/call/ask", json={"data": data}).status_code == 429:
        assert time.monotonic() < end
        time.sleep(0.2)
    sent = [httpx.post(f"{address}/upload", files=files).status_code for _ in range(3)]
    assert sent == [200, 200, 429]  # any upload counts at least a MiB


def test_a_public_server_has_room_for_others():
    public = serving.PUBLIC
    assert public.events < (public.places + 1) / 2
    assert 2 * public.visitor_mb <= public.disk_gb * 1024 / 10
