from __future__ import annotations

import threading
from contextlib import ExitStack

import httpx

from components.server import gradio_patches, heartbeats
from components.session.work.engine import Engine
from tests.components.fake import write_clip
from tests.server.running import running, wait_until
from tests.server.target import G, Target, file
from tests.server.test_reading import Slow


def test_decoding_of_a_clip_ends_when_its_page_is_closed(tmp_path):
    write_clip(tmp_path / "clip.mp4")
    engine = Engine(Slow())
    with running(engine=engine) as url:
        target = Target(url)
        path = target.upload("a.mp4", (tmp_path / "clip.mp4").read_bytes())
        with httpx.stream("GET", f"{url}{G}/heartbeat/page1") as heartbeat:
            beats = heartbeat.iter_raw()
            assert next(beats)
            preview = {"gv-clip": file(path)}, "page1"
            asking = threading.Thread(target=target.preview, args=preview, daemon=True)
            asking.start()
            assert engine.backend.begun.acquire(timeout=20)
            assert not engine.backend.limits["stop"].is_set()
        assert engine.backend.limits["stop"].wait(10)
        asking.join(20)


def test_heartbeats_of_a_visitor_are_limited_and_make_no_session(monkeypatch):
    seen, apply = [], gradio_patches.apply
    monkeypatch.setattr(gradio_patches, "apply", lambda app: (seen.append(app), apply(app)))
    monkeypatch.setattr(heartbeats, "HEARTBEATS", 2)
    with running() as url, ExitStack() as opened, httpx.Client(base_url=url + G) as client:

        def status(name):
            reply = client.stream("GET", f"/heartbeat/{name}")
            return opened.enter_context(reply).status_code

        assert [status(f"made-up-{number}") for number in range(3)] == [200, 200, 429]
        opened.close()
        assert wait_until(lambda: status("made-up") != 429)
        assert not any("made-up" in name for name in seen[0].state_holder.session_data)
