import threading
import time
from dataclasses import replace

import pytest

from components.jobs import job
from components.jobs.engine import Engine
from components.jobs.pages import UPLOAD
from components.jobs.request import Request, Sides
from components.tokens.answers import answers
from components.tokens.ask import ask, ask_live
from components.tokens.preview import BEFORE, NO_ANSWER, STOPPED, preview
from gleanvid import GleanVID, Uniform
from gleanvid.types import StoppedError
from tests.components.fake import FakeBackend, a_run

pytestmark = pytest.mark.usefixtures("cache")
MOVES = Sides(question="What moves?")


@pytest.fixture
def engine():
    return Engine(FakeBackend())


def request_of(clip, **settings):
    return Request(clip, 8, "builtin", settings=settings)


def shown(engine, clip, sides, compressor="gleanvid", frames=8, **settings):
    """Preview these settings; return the last update of the page."""
    request = Request(clip, frames, "builtin", compressor, settings)
    return list(preview(engine, request, sides))[-1]


def answered(engine, clip, compressor, question="What moves?"):
    """Store a run with an answer to ``question``; return the run's id."""
    video = engine.clip(clip, 8)
    record = compressor.compress(engine.backend.tokens(video))
    return engine.runs.add(a_run(video, record, compressor, question), clip)


def names(engine, ids):
    return [engine.runs.get(run_id).compressor["name"] for run_id in ids]


def test_preview_shows_the_settings_as_side_b_and_all_tokens_as_side_a(engine, clip):
    update = shown(engine, clip, Sides())
    assert names(engine, update.runs) == ["gleanvid", "full"]
    assert (update.viewer["a"], update.viewer["b"]) == (1, 0)
    used = "Used 8 of 8 frames from 2.0 s."
    assert update.notice["text"] == f"{used} {NO_ANSWER}"
    asked = Sides([answered(engine, clip, GleanVID(retention_ratio=0.25))], question="What moves?")
    assert shown(engine, clip, asked).notice["text"] == used
    assert ("Queue", "idle") in update.status
    again = shown(engine, clip, Sides(update.runs), tau=2.0)
    assert again.runs[1] == update.runs[1] and again.runs[0] != update.runs[0]
    assert again.viewer["data"] != update.viewer["data"]
    backend = engine.backend
    assert (backend.reads, backend.encodes, backend.loads) == (1, 1, 1)


def test_side_a_keeps_pinned_settings_on_another_clip(engine, clip):
    sides = Sides(pinned=Uniform(0.5).settings())
    for frames in (8, 4):
        update = shown(engine, clip, sides, frames=frames)
        assert engine.runs.get(update.runs[1]).compressor == Uniform(0.5).settings()
        sides = replace(sides, runs=update.runs)


def test_side_without_an_answer_shows_its_method_s_last_answer(engine, clip):
    first = answered(engine, clip, GleanVID())
    sides = replace(MOVES, runs=[first])
    update = shown(engine, clip, sides, tau=2.0)
    assert update.runs[0] != first and update.runs[2] == first
    assert {(item["run"], item["side"]) for item in update.answers} == {(first, None), (first, "b")}
    other = shown(engine, clip, sides, "uniform")
    assert [item["side"] for item in other.answers] == [None]


def test_answer_to_another_question_is_marked_stale(engine, clip):
    run_id = answered(engine, clip, GleanVID())
    for question, stale in ((" What moves? ", False), ("Why?", True)):
        (known,) = answers(engine.runs, Sides([run_id], question=question))
        assert known["stale"] is stale


def test_preview_leaves_out_runs_of_another_clip_or_number_of_frames(engine, clip):
    update = shown(engine, clip, Sides([answered(engine, clip, Uniform(0.5))]))
    assert names(engine, update.runs) == ["gleanvid", "full", "uniform"]
    assert len(shown(engine, clip, Sides(update.runs), frames=4).runs) == 2
    smaller = Request(clip, 8, "builtin", pixels=100)
    assert len(list(preview(engine, smaller, Sides(update.runs)))[-1].runs) == 2


def test_viewer_says_what_is_being_computed_and_when_it_shows_earlier_settings(engine, clip):
    updates = list(preview(engine, request_of(clip), Sides()))
    waits = [update.pending for update in updates if update.pending]
    assert waits and all("…" in text for text in waits) and updates[-1].viewer
    refused = request_of(clip, alpha_min=0.9)
    assert list(preview(engine, refused, Sides(updates[-1].runs)))[-1].pending == BEFORE
    # the viewer is empty, so it shows no earlier settings
    assert list(preview(engine, refused, Sides()))[-1].pending == ""
    late = Request(clip, 8, "builtin", "sparsevlm")
    assert list(preview(engine, late, Sides()))[-1].pending == ""


def preview_while_encoding(engine, clip):
    """Return a preview's generator of updates, advanced to where it encodes the clip."""
    running = preview(engine, request_of(clip), Sides(), "me")
    assert next(running).pending == "Reading the clip… The model is still being loaded."
    update = next(running)
    assert update.notice["text"].startswith("Encoding") and update.stoppable
    assert dict(update.status)["Queue"] == "in use"
    return running


def test_stop_ends_a_preview_while_the_clip_is_encoded_and_frees_the_model(engine, clip):
    engine.backend.encode_s = 60
    running = preview_while_encoding(engine, clip)
    threading.Timer(0.05, engine.pages.stop, ["me"]).start()
    started = time.perf_counter()
    assert [update.notice["text"] for update in running] == [STOPPED]
    assert time.perf_counter() - started < 20
    assert len(engine.queue) == 0 and engine.backend.encodes == 0 and engine.pages.start("me")


def test_newer_preview_ends_the_same_page_s_older_preview_without_a_message(engine, clip):
    encode, updates = engine.backend.encode, []
    newer = threading.Thread(
        target=lambda: updates.extend(preview(engine, request_of(clip), Sides(), "me"))
    )

    def encode_until_stopped(clip, model, stop):
        engine.backend.encode = encode
        newer.start()
        assert stop.wait(20)
        raise StoppedError

    engine.backend.encode = encode_until_stopped
    old, others = preview_while_encoding(engine, clip), engine.pages.begin_preview("you")
    assert list(old) == [] and not others.stop.is_set()
    newer.join(20)
    assert updates[-1].viewer and len(engine.queue) == 0


def test_new_settings_do_not_wait_for_a_long_answer_of_another_page(engine, clip):
    engine.backend.words = 1000
    engine.pages.start("you")
    theirs = ask(engine, "you", request_of(clip), MOVES, both=False)
    while not any(item["text"] for item in next(theirs).answers or ()):
        pass
    (update,) = preview(engine, request_of(clip, retention_ratio=0.5), Sides())
    assert update.viewer
    theirs.close()


def test_outdated_previews_and_live_answers_show_nothing(engine, clip):
    request = request_of(clip)
    late, now, newer = (replace(MOVES, version=version) for version in (4, 5, 6))
    assert list(preview(engine, request, now, "me"))[-1].viewer
    assert list(ask_live(engine, "me", request, late)) == []
    assert any(update.answers for update in ask_live(engine, "me", request, now))
    for again in (late, now):
        assert list(preview(engine, request, again, "me")) == []
        assert list(ask_live(engine, "me", request, again)) == []
    assert any(update.answers for update in ask_live(engine, "me", request, newer))
    # On another page, settings version 4 is not outdated.
    assert list(preview(engine, request, late, "you"))[-1].viewer


def test_live_answer_does_not_end_a_running_preview(engine, clip):
    running = preview_while_encoding(engine, clip)
    assert list(ask_live(engine, "me", request_of(clip), replace(MOVES, version=9))) == []
    assert [update.viewer for update in running if update.viewer]


@pytest.mark.parametrize("then", ["begin", "end", "stop"])
def test_choosing_another_clip_or_closing_the_page_ends_the_decoding_of_a_clip(then):
    class Slow(FakeBackend):
        def read_video(self, path, num_frames, timeout_s, stop, progress):
            engine.pages.begin_preview("me")  # moving a slider does not end the decoding
            assert not stop.is_set()
            getattr(engine.pages, then)("me", *([] if then == "stop" else [UPLOAD]))
            assert stop.wait(20)
            raise StoppedError

    engine = Engine(Slow())
    with pytest.raises(StoppedError):
        list(job.read(engine, "a.mp4", 8, engine.pages.begin("me", UPLOAD)))
