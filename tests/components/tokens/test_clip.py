import threading
from types import SimpleNamespace

import gradio as gr
import pytest

from components.jobs import job
from components.jobs.engine import Engine
from components.jobs.examples import examples
from components.jobs.pages import UPLOAD
from components.page.page import build_app
from components.tokens.clip import STOPPED, shortened
from gleanvid.types import StoppedError
from tests.components.fake import FakeBackend, write_clip

USER = SimpleNamespace(session_hash="me")


@pytest.fixture
def page(plain_page):
    return plain_page


@pytest.fixture(scope="module")
def page_of_examples():
    return build_app(Engine(FakeBackend()), examples=examples())


def uploaded(page, path, question="", by_widget=False):
    """Upload a clip; return the updates of the page, each a dictionary by id or class of widget."""
    events = list(page.fns.values())
    gather = next(event for event in events if event.js == "gleanvid.gather")
    event = next(event for event in events if event.name == "on_upload")
    values = {widget: widget.value for widget in event.inputs if widget.elem_id != "gv-clip"}
    values |= {widget: None for widget in event.inputs if widget.elem_id == "gv-clip"}
    changing = {button for button in page.blocks.values() if isinstance(button, gr.Button)}
    sent = {widget: widget.value for widget in gather.inputs}
    (box,) = (widget for widget in sent if widget.elem_id == "gv-question")
    sent[box] = question or box.value
    values |= {gather.outputs[0]: {"values": [*sent.values()], "version": 0, "live": False}}
    (button,) = (widget for widget in values if widget.elem_id == "gv-upload")
    heard = {source for other in events for source, kind in other.targets if kind == "change"}

    def called(widget):
        is_heard = isinstance(widget, gr.State) and widget.value is None and widget._id in heard
        return "arrived" if is_heard else widget.elem_id or type(widget).__name__

    found = list(event.fn(USER, values | {button: path}))
    if by_widget:
        return found
    return [
        {called(widget): new for widget, new in changes.items() if widget not in changing}
        for changes in found
    ]


def test_unreadable_file_changes_nothing_and_opens_no_popup(page, tmp_path):
    name = "broken.mp4"
    (tmp_path / name).write_bytes(b"this is no video at all" * 9)
    reading, refusal = uploaded(page, str(tmp_path / name))
    assert reading["HTML"] == {"text": job.READING, "kind": "quiet", "version": 0}
    assert refusal["HTML"] == {
        "text": f"{name} is not a video that can be read.",
        "kind": "problem",
    }
    assert set(reading) == {"HTML", "gv-tokens"} and "gv-clip" not in refusal
    assert refusal["gv-tokens"]["pending"] == ""


def test_upload_progress_is_shown_in_the_message_line_and_over_the_viewer(tmp_path, monkeypatch):
    class Slow(FakeBackend):
        def read_video(self, path, num_frames, timeout_s, stop, progress):
            progress(3, 32)
            assert said.wait(20)
            return super().read_video(path, num_frames, timeout_s, stop, progress)

    class Said(str):
        def format(self, **counts):
            said.set()
            return super().format(**counts)

    said = threading.Event()
    monkeypatch.setattr(job, "READ", Said(job.READ))
    monkeypatch.setattr(job, "READ_S", 0.05)
    write_clip(tmp_path / "clip.mp4")
    _, reading, taken = uploaded(build_app(Engine(Slow())), str(tmp_path / "clip.mp4"))
    words = "Reading the clip: frame 3 of 32."
    assert (reading["HTML"]["text"], reading["gv-tokens"]["pending"]) == (words, words)
    assert taken["gv-clip"] == str(tmp_path / "clip.mp4")


def test_changing_the_clip_clears_its_suggested_question_and_keeps_a_typed_question(
    page_of_examples, tmp_path
):
    write_clip(tmp_path / "clip.mp4")
    for question, left in ((examples()[0].question, ""), ("What do I see?", None)):
        _, taken = uploaded(page_of_examples, str(tmp_path / "clip.mp4"), question)
        assert taken.get("gv-question") == left


def test_second_upload_of_the_same_clip_is_shown_like_the_first(page, tmp_path):
    """The path of the upload is unchanged, so Gradio's change event would not fire."""
    write_clip(tmp_path / "clip.mp4")
    first, again = (uploaded(page, str(tmp_path / "clip.mp4"))[-1] for _ in range(2))
    assert first["gv-clip"] == again["gv-clip"] and first["arrived"] != again["arrived"]


def clip_panel(page):
    return next(one.fn.__self__ for one in page.fns.values() if one.name == "on_upload")


def test_returning_to_a_clip_restores_its_results_and_thumbnail(page_of_examples, tmp_path):
    write_clip(tmp_path / "clip.mp4")
    panel, path = clip_panel(page_of_examples), str(tmp_path / "clip.mp4")
    _, taken = uploaded(page_of_examples, path)
    (shelved,) = taken["gv-shelf"]
    assert shelved["picture"].startswith("data:image/jpeg;base64,")
    runs, question = page_runs(panel), panel.page.inputs.question
    first = str(examples()[0].path)
    values = {panel.file: first, runs: ["one", "two"], panel.tried: {}, question: "Mine?"}
    values |= {panel.own: {path: shelved["picture"]}, panel.model: "builtin"}
    values |= {panel.method: "gleanvid"}
    away = panel.on_shelf(USER, SimpleNamespace(place=0), values)
    assert away[panel.file] == path and away[runs] == []
    values |= {panel.file: path, runs: ["three"], panel.tried: away[panel.tried]}
    back = panel.on_example(USER, values | {panel.wanted: shortened(examples()[0].path)})
    assert back[runs] == ["one", "two"] and back[panel.tried][path] == ["three"]
    forged = panel.on_shelf(USER, SimpleNamespace(place=7), values)
    assert panel.file not in forged


def page_runs(panel):
    return panel.page.outputs.runs


def test_ask_button_is_disabled_while_a_clip_is_read_and_stop_ends_the_reading(
    page, tmp_path, monkeypatch
):
    """If asking were enabled, the question would be about the previous clip."""
    write_clip(tmp_path / "clip.mp4")
    panel = clip_panel(page)
    engine, outputs = panel.page.engine, panel.page.outputs
    start = next(one.fn for one in page.fns.values() if one.name == "on_start")
    work = engine.pages.begin("me", UPLOAD)
    with pytest.raises(gr.Error):
        start(USER)
    engine.pages.stop("me")
    assert work.stop.is_set() and work.why and not engine.pages.has("me", UPLOAD)
    monkeypatch.setattr(engine, "clip", lambda *given: engine.pages.stop("me") and stopped())
    reading, over = uploaded(page, str(tmp_path / "clip.mp4"), by_widget=True)
    assert not reading[outputs.starters[0]]["interactive"]
    assert reading[panel.page.preview.stop]["interactive"]
    assert over[outputs.starters[0]]["interactive"] and over[outputs.notice]["text"] == STOPPED


def stopped():
    raise StoppedError
