import threading

import gradio as gr
import pytest

from components.jobs.engine import Engine
from components.jobs.queue import READERS_FULL, ModelQueue, Queue, Work
from components.jobs.request import Request
from components.server.access import model_access
from gleanvid.errors import BusyError
from gleanvid.types import StoppedError, VideoError
from gleanvid.video import plan, read_video
from tests.components.fake import FakeBackend, moving_square, write_clip
from tests.components.server.running import wait_until


class Slow(FakeBackend):
    """Backend whose decoding of a clip lasts until it is stopped, unless its name has "quick"."""

    def __init__(self):
        super().__init__()
        self.begun, self.limits = threading.Semaphore(0), {}

    def read_video(self, path, num_frames, timeout_s, stop, progress):
        self.limits = {"timeout_s": timeout_s, "stop": stop}
        self.begun.release()
        if "quick" not in str(path):
            stop.wait(20)
            raise StoppedError
        return moving_square(num_frames)


def request(path):
    return Request(path, 8, "builtin", "uniform")


def test_endpoint_decodes_its_clip_without_occupying_the_model_queue():
    engine = Engine(Slow())
    work = Work()

    def call():
        with pytest.raises(gr.Error), model_access(engine, request("slow"), work):
            pass

    thread = threading.Thread(target=call)
    thread.start()
    engine.backend.begun.acquire()
    assert len(engine.queue) == 0
    work.end()
    thread.join(10.0)
    assert not thread.is_alive()


def test_decoding_of_a_clip_obeys_deadline_and_stop():
    engine, work = Engine(Slow(), queue=ModelQueue(7.0)), Work()
    engine.clip("quick", 8, work)
    assert engine.backend.limits == {"timeout_s": 7.0, "stop": work.stop}


def test_numbers_of_running_and_waiting_decoders_are_limited():
    readers, entered = Queue(2, 1, READERS_FULL), []
    leave = threading.Event()

    def read(work):
        with readers.place(work):
            entered.append(work)
            leave.wait(10)

    works = [Work() for _ in range(3)]
    threads = [threading.Thread(target=read, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    assert wait_until(lambda: len(entered) >= 2 and len(readers) == 3)
    with pytest.raises(BusyError, match="1 clips are waiting"), readers.place(Work()):
        pass
    assert len(entered) == 2
    leave.set()
    for thread in threads:
        thread.join(20)
    assert len(entered) == 3 and len(readers) == 0


def test_clips_that_would_take_hours_are_refused_before_decoding(tmp_path, monkeypatch):
    write_clip(tmp_path / "clip.mp4")  # one keyframe, 8 frames of 72 x 126
    monkeypatch.setattr(plan, "MAX_DECODED_PIXELS", 72 * 126 * 8)
    assert len(read_video(tmp_path / "clip.mp4", 2, isolate=False)) == 2
    monkeypatch.setattr(plan, "MAX_DECODED_PIXELS", 72 * 126 * 8 - 1)
    with pytest.raises(VideoError, match=r"8 frames of .* are too many to decode"):
        read_video(tmp_path / "clip.mp4", 2, isolate=False)
