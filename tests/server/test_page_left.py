"""Closing a page in the browser ends its work on the server."""

from __future__ import annotations

import threading
import time

import httpx

from components.session.work.engine import Engine
from tests.components.fake import write_clip
from tests.server.running import running
from tests.server.test_reading import Slow
from tools.attack.client import G, Target


def test_a_clip_is_read_no_longer_than_its_page_is_open(tmp_path):
    write_clip(tmp_path / "clip.mp4")
    engine = Engine(Slow())
    with running(engine=engine) as url:
        target = Target(url)
        path = target.upload("a.mp4", (tmp_path / "clip.mp4").read_bytes())
        file = {"path": path, "meta": {"_type": "gradio.FileData"}}
        with httpx.stream("GET", f"{url}{G}/heartbeat/page1") as heartbeat:
            beats = heartbeat.iter_raw()
            assert next(beats)
            event = "gv-preview", "follow", {"gv-clip": file}, "page1"
            asking = threading.Thread(target=target.page, args=event)
            asking.start()
            assert engine.backend.begun.acquire(timeout=20)
            assert not engine.backend.limits["stop"].is_set()
        left = time.monotonic()
        assert engine.backend.limits["stop"].wait(10) and time.monotonic() - left < 2.0
        asking.join(20)
