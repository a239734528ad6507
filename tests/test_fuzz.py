"""Arbitrary input from strangers is accepted or refused with a message, never a crash.

Hypothesis replaces parts of valid input by junk: numbers of 400 digits, NaN, lone surrogates,
deeply nested lists. The examples are the same in every run.
"""

from __future__ import annotations

import json
import math
import threading
from contextlib import contextmanager
from functools import cache, partial

import gradio as gr
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from components.files import exports, opening
from components.server.allowed import RefusedError, checked_json, matcher
from components.server.endpoints import Calls
from components.session.request import Request, make_compressor, pinned_settings
from components.session.work.engine import Engine
from components.viewer.payload import payload
from gleanvid import Uniform, load_model
from gleanvid.cli import compress as command
from gleanvid.compressors import COMPRESSORS
from gleanvid.errors import ModelError
from gleanvid.evaluation.recording import recording
from gleanvid.evaluation.recording.file_format import KEY
from gleanvid.evaluation.recording.record import Wanted, record
from gleanvid.evaluation.run.journal import Journal, JournalError
from gleanvid.evaluation.run.journal_rows import is_answer_row, is_clip_row, is_lmms_row
from gleanvid.run import Run
from gleanvid.serving.vllm.client import Server
from gleanvid.types import VideoError
from gleanvid.video import read_video
from tests.components.fake import FakeBackend, a_run, moving_square

few = partial(settings, suppress_health_check=[*HealthCheck])
DEEP = json.loads("[" * 200 + "]" * 200)
ODD = st.sampled_from(
    [10**400, -(10**400), math.nan, math.inf, 1e308, -1, 0, 2**63, 0.5, True, None, "\ud800", "",
     "\0", "x" * 20_000, "\x1b[2J", [], {}, DEEP, {"path": "/etc/passwd"}]
)  # fmt: skip
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
JUNK = ODD | st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)


@contextmanager
def refused(*kinds):
    """Context manager that accepts errors of these types, but only with a message."""
    try:
        yield
    except kinds as error:
        if not str(error):
            raise


@st.composite
def changed(draw, whole):
    """Draw a copy of the JSON value ``whole`` with one to three parts replaced or deleted."""
    for _ in range(draw(st.integers(1, 3))):
        whole = _changed(draw, whole)
    return whole


def _changed(draw, part):
    if not (isinstance(part, dict | list) and part) or draw(st.integers(0, 5)) == 0:
        return draw(JUNK)
    keys = list(part) if isinstance(part, dict) else range(len(part))
    key = draw(st.sampled_from(keys))
    new = dict(part) if isinstance(part, dict) else list(part)
    if draw(st.integers(0, 5)) == 0:
        del new[key]
    else:
        new[key] = _changed(draw, part[key])
    return new


# --- settings and endpoints -----------------------------------------------------------------------


@few(max_examples=40)
@given(st.sampled_from([*COMPRESSORS]), st.data())
def test_random_compressor_settings_are_accepted_or_refused_with_value_error(name, data):
    usual = COMPRESSORS[name]().settings()
    sent = data.draw(changed({key: value for key, value in usual.items() if key != "name"}))
    with refused(ValueError):
        made = make_compressor(name, sent if isinstance(sent, dict) else {})
        json.dumps(made.settings())
    pinned_settings(json.dumps(sent))


SAMPLING = {"seed": 0, "temperature": 0.5, "top_p": 0.9, "max_new_tokens": 8}
SENT = {"settings": {"tau": 4, "alpha_min": 0.1}} | SAMPLING
SENT |= {"frames": 8, "pixels": 0, "model": "builtin", "compressor": "gleanvid", "ratio": 0.25}


@few(max_examples=50)
@given(changed(SENT))
def test_random_endpoint_arguments_are_accepted_or_refused_with_a_message(sent):
    given = sent if isinstance(sent, dict) else {}
    sent = SENT | {name: value for name, value in given.items() if name in SENT}
    calls = Calls(Engine(FakeBackend()), ["builtin"], 64)
    with pytest.MonkeyPatch.context() as patch, refused(gr.Error, ValueError):
        patch.setattr("components.server.endpoints.uploaded", lambda video: "clip.mp4")
        sampling = {name: sent.pop(name) for name in SAMPLING}
        request = calls._request({}, sampling=sampling, **sent)
        request.missing("What?")
        request.make_compressor()


@few(max_examples=40)
@given(st.binary(max_size=200) | changed({"data": [{"path": "x"}], "session_hash": "a"}))
def test_random_request_bodies_are_accepted_or_refused(sent):
    body = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    with refused(RefusedError):
        json.loads(checked_json(body) or b"0")


@few(max_examples=50)
@given(st.sampled_from(["GET", "POST", "\0"]), st.text(st.characters(codec="utf-8"), max_size=60))
def test_random_request_paths_are_allowed_or_refused(method, path):
    assert matcher(["GET /", "GET /static/{path:path}"])(method, path) in (True, False)


@few(max_examples=50)
@given(st.text(max_size=30) | ODD.filter(lambda one: isinstance(one, str)))
def test_random_file_names_are_refused_with_a_message(path):
    with pytest.raises((VideoError, ValueError)) as raised:
        read_video(path, 4)
    assert str(raised.value)


@pytest.mark.parametrize("sent", [None, "full", {"full": 1}])
def test_compare_endpoint_refuses_compressors_that_are_no_list(sent, monkeypatch):
    monkeypatch.setattr("components.server.endpoints.uploaded", lambda video: "clip.mp4")
    calls = Calls(Engine(FakeBackend()), ["builtin"], 64)
    with pytest.raises(gr.Error, match=r"compressors=.*must be a list"):
        calls.compare({}, "What?", sent, [0.5])


# --- journals -------------------------------------------------------------------------------------

CLIP_ROW = {"item": "a.mp4", "setup": "x@8", "file": "a.npz", "tokens": 9, "kept": 3}
CLIP_ROW |= {"saturated": [0, 4]}
ANSWER_ROW = {"item": "a", "setup": "full@8", "said": {"way": "A"}, "right": [1.0], "seconds": 0.1}
ANSWER_ROW |= {"tokens": [9, 3, 3], "evidence": [4, 2, 3], "things": [1, 1], "moments": [1, 1]}
LMMS_ROW = {"item": "a", "setup": "x@8", "said": {"way": "A"}, "tokens": [9, 3], "seconds": 0.1}
LMMS_ROW |= {"new_tokens": 3, "prefill_s": 0.1, "compress_s": 0.1, "generate_s": 0.1}
LMMS_ROW |= {"peak_memory_mib": 0.0}
KINDS = {"clip": (CLIP_ROW, is_clip_row), "lmms": (LMMS_ROW, is_lmms_row)}
KINDS |= {"answer": (ANSWER_ROW, partial(is_answer_row, ways=1))}


@pytest.mark.parametrize("kind", KINDS)
@few(max_examples=40)
@given(data=st.data())
def test_randomly_changed_journals_are_read_or_refused(kind, tmp_path, data):
    row, is_row = KINDS[kind]
    header = {"gleanvid_evaluation": 1, "settings": {"model": "m"}}
    lines = [data.draw(st.just(header) | changed(header)), data.draw(changed(row))]
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    text = data.draw(st.sampled_from([text, text[:-20], text + b"\xff\n", text + text]))
    (path := tmp_path / "journal.jsonl").write_bytes(text)
    with refused(JournalError), Journal(path, {"model": "m"}, is_row) as journal:
        if kind == "clip":
            command._report([*journal.rows.values()], "out")


# --- saved runs and recordings --------------------------------------------------------------------


@cache
def a_saved_run(folder):
    video = moving_square(8)
    engine = Engine(FakeBackend())
    key = Request("x", 8, "builtin").clip(video)
    encoded = engine.backend.encode(key, engine.model("builtin"), threading.Event())
    method = Uniform(0.5)
    run = a_run(video, method.compress(encoded.tokens), method)
    run.save(folder)
    return json.loads((folder / "run.json").read_text()), dict(np.load(folder / "run.npz"))


@st.composite
def changed_arrays(draw, arrays):
    """Draw a copy of ``arrays``: up to two are missing or have another type, shape or values."""
    new = dict(arrays)
    for name in draw(st.lists(st.sampled_from(sorted(new)), max_size=2, unique=True)):
        array = new.pop(name)
        act = draw(st.sampled_from(["gone", "type", "short", "deep", "numbers", "none"]))
        if act == "type":
            new[name] = array.astype(draw(st.sampled_from(["bool", "int8", "float16", "uint64"])))
        elif act == "short":
            new[name] = array[:-1]
        elif act == "deep":
            new[name] = array[None]
        elif act == "none":
            new[name] = array[:0]
        elif act == "numbers":
            filled = draw(st.sampled_from([np.nan, np.inf, -1, 255, 1e30]))
            with np.errstate(all="ignore"):
                new[name] = np.full_like(array, filled if array.dtype.kind == "f" else 1)
    return new


@few(max_examples=40)
@given(data=st.data())
def test_randomly_changed_saved_runs_are_opened_or_refused(tmp_path_factory, data):
    facts, arrays = a_saved_run(tmp_path_factory.getbasetemp() / "saved")
    facts = data.draw(st.just(facts) | changed(facts))
    arrays = data.draw(changed_arrays(arrays))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening.sandbox, "unpacked", lambda path, limit: (facts, arrays))
        run = None
        with refused(ValueError):
            run = opening.opened("run.zip")
    if run is not None:  # a run that can be opened can also be shown
        json.dumps(payload([run], question=run.question), default=bytes.hex)
        for kind in ("csv", "json", "npz", "run"):
            exports.make(kind, [run])


@few(max_examples=50)
@given(data=st.data())
def test_randomly_changed_run_folders_are_loaded_or_refused(tmp_path_factory, data):
    base = tmp_path_factory.getbasetemp()
    facts, arrays = a_saved_run(base / "saved")
    folder = base / "changed"
    folder.mkdir(exist_ok=True)
    (folder / "run.json").write_text(json.dumps(data.draw(changed(facts))))
    np.savez(folder / "run.npz", **data.draw(changed_arrays(arrays)))
    packed = (folder / "run.npz").read_bytes()
    (folder / "run.npz").write_bytes(packed[: data.draw(st.sampled_from([None, 0, 100, -50]))])
    with refused(ValueError):
        Run.load(folder)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The metadata and the tensors of a recording of the built-in model."""
    path = tmp_path_factory.mktemp("recorded") / "clip.recording.safetensors"
    video = read_video("assets/clips/glimpse_1.mp4", 4)
    record(
        load_model(device="cpu"),
        video,
        Wanted(("What?",), (Uniform(0.5),), max_new_tokens=2),
        path,
        print,
    )
    tensors = load_file(path)
    with safe_open(path, "np") as file:
        return json.loads(file.metadata()[KEY]), tensors


@few(max_examples=40)
@given(data=st.data())
def test_randomly_changed_recordings_are_opened_or_refused(recorded, tmp_path_factory, data):
    facts, tensors = recorded
    path = tmp_path_factory.getbasetemp() / "changed.recording.safetensors"
    facts = json.dumps(data.draw(st.just(facts) | changed(facts)))
    save_file(data.draw(changed_arrays(tensors)), path, {KEY: facts})
    with refused(ValueError):
        opened = recording.open_recording(path)
        json.dumps([run.summary() for run in opened.runs])


# --- answers of servers ---------------------------------------------------------------------------

EVENT = {"choices": [{"delta": {"content": "x"}}], "usage": {"prompt_tokens": 3}}
RECORDS = {"method": {"name": "gleanvid", "tau": 4}, "pruning_rate": 0.75, "seconds": 0.1}
RECORDS |= {"count": 1, "records": [{"grid": [2, 2, 2], "keep": [0, 3], "uuid": "a"}]}
ANSWERS = {
    "models": (lambda server: server.checkpoint(), {"data": [{"id": "m", "root": "r"}]}),
    "records": (lambda server: server.records(), RECORDS),
    "answer": (lambda server: server.ask([], model="m"), EVENT),
    "refusal": (lambda server: server.ask([], model="m"), {"error": {"message": "no"}}),
}


@pytest.mark.parametrize("kind", ANSWERS)
@few(max_examples=40)
@given(data=st.data())
def test_randomly_changed_server_responses_are_read_or_refused(kind, data):
    act, answer = ANSWERS[kind]
    text = json.dumps(data.draw(changed(answer))).encode()
    text = data.draw(st.just(text) | st.binary(max_size=60))
    sent = b"data: " + text + b"\n\ndata: [DONE]\n" if kind in ("answer", "refusal") else text
    with pytest.MonkeyPatch.context() as patch, refused(ModelError):
        patch.setattr(Server, "_pieces", lambda *words, **more: iter([sent]))
        act(Server("http://127.0.0.1:1"))
