"""The status line says what is known: device, model, tokens, memory, and who waits."""

from __future__ import annotations

from components.session.display import STILL_LOADING, progress, short_name, status
from components.session.work.engine import Engine
from components.session.work.queue import Work
from gleanvid import GleanVID
from tests.components.fake import FakeBackend, a_run, moving_square


def test_nothing_is_loaded_to_say_something():
    engine = Engine(FakeBackend())
    said = dict(status(engine))
    assert set(said) == {"Model", "Memory", "Queue"} and said["Queue"] == "nobody waits"
    assert said["Model"] == "none loaded yet"
    assert engine.backend.loads == 0
    assert float(said["Memory"].split()[0].replace(",", "")) > 10


def test_model_tokens_and_queue_are_told():
    library = FakeBackend()
    engine = Engine(library)
    engine.model("builtin")
    video = moving_square()
    record = GleanVID(0.25).compress(library.tokens(video))
    list(engine.line.wait(Work()))
    said = dict(status(engine, a_run(video, record, GleanVID(0.25))))
    assert (said["Model"], said["Queue"]) == ("builtin", "nobody waits")
    assert said["Tokens"] == f"{record.num_kept:,} of {record.num_tokens:,}"
    next(engine.line.wait(Work()))
    assert dict(status(engine))["Queue"] == "1 waiting"


def test_work_that_waits_for_the_model_says_so():
    engine = Engine(FakeBackend())
    text = "Encoding 8 frames…"
    assert progress(engine, "builtin", text)["text"] == f"{text} {STILL_LOADING}"
    engine.model("builtin")
    assert progress(engine, "builtin", text)["text"] == text


def test_a_model_of_servers_is_called_by_the_first():
    assert short_name("vllm:http://127.0.0.1:8000") == "127.0.0.1:8000"
    assert short_name("vllm:http://127.0.0.1:8000,http://host:8001") == "127.0.0.1:8000 and 1 more"
    assert short_name("Qwen/Qwen3-VL-4B-Instruct") == "Qwen3-VL-4B-Instruct"
    assert short_name("/models/a,b") == "a,b"
