import httpx
import pytest

from components.jobs.engine import Engine
from components.server.allowed import GRADIO
from tests.components.fake import FakeBackend, write_clip
from tests.components.server.running import file, join, running, upload, wait_until


def test_work_of_a_page_ends_when_the_page_is_closed():
    engine = Engine(FakeBackend())
    with running(engine=engine) as url:
        with httpx.stream("GET", f"{url}{GRADIO}/heartbeat/page1") as heartbeat:
            beats = heartbeat.iter_raw()
            assert next(beats)
            engine.pages.start("page1")
            work = engine.pages.work("page1")
            assert not work.stop.is_set()
        assert work.stop.wait(20)


@pytest.mark.parametrize("how", ["cancels", "disconnects"])
def test_comparison_starts_no_further_run_once_the_caller_cancels_or_disconnects(how, tmp_path):
    write_clip(tmp_path / "clip.mp4")
    engine = Engine(FakeBackend(pause_s=0.3, words=1000))
    with running(engine=engine) as url:
        clip = file(upload(url, (tmp_path / "clip.mp4").read_bytes()).json()[0])
        data = [clip, "What?", ["uniform", "gleanvid"], [0.25, 0.5], "", 8]
        event = join(url, "compare", data, "one").json()["event_id"]
        with httpx.stream("GET", f"{url}{GRADIO}/queue/data?session_hash=one") as stream:
            assert next(stream.iter_raw())
            assert wait_until(lambda: engine.backend.asked, 30.0)
            if how == "cancels":
                dependencies = httpx.get(f"{url}/config").json()["dependencies"]
                number = next(one["id"] for one in dependencies if one["api_name"] == "compare")
                named = {"fn_index": number, "session_hash": "one", "event_id": event}
                httpx.post(f"{url}{GRADIO}/cancel", json=named)
        assert wait_until(lambda: not len(engine.queue), 30.0)
        asked = engine.backend.asked
        assert not wait_until(lambda: engine.backend.asked is not asked, 1.0)
