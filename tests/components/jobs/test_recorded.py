import json
import os

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import gleanvid
from components.jobs.engine import Engine
from components.jobs.local import LocalBackend
from components.jobs.queue import Work
from components.jobs.recorded import RecordedBackend, Shelf
from gleanvid.evaluation.recording.file_format import KEY, SUFFIX
from gleanvid.evaluation.recording.record import Wanted, record
from gleanvid.evaluation.recording.recording import read_facts
from gleanvid.models.encoded import ClipKey
from gleanvid.models.generation.sampling import GREEDY
from gleanvid.run import Run
from gleanvid.types import ModelError

CLIP, QUESTION = "assets/clips/glimpse_1.mp4", "What moves?"
QUARTER = gleanvid.GleanVID(0.25)


@pytest.fixture(scope="module")
def model():
    return gleanvid.load_model(device="cpu")


@pytest.fixture(scope="module")
def shelf(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shelf")
    wanted = Wanted(
        (QUESTION,), (QUARTER,), max_new_tokens=4, clip_licence="CC0-1.0", relevance=True
    )
    record(model, gleanvid.read_video(CLIP, 4), wanted, folder / ("clip" + SUFFIX))
    (folder / ("damaged" + SUFFIX)).write_bytes(b"nothing")
    return Shelf(folder)


@pytest.fixture
def engine(shelf):
    return Engine(RecordedBackend(LocalBackend({}), shelf))


@pytest.fixture
def entry(shelf):
    (only,) = shelf.entries()  # the damaged recording is left out
    return only


def test_menu_entry_of_a_recording_has_title_model_questions_and_licence(entry):
    assert entry.title == "clip" and entry.recorded_with == "builtin"
    assert entry.questions == (QUESTION,) and entry.licence == "clip: CC0-1.0"


def test_recording_with_a_forged_header_is_left_out_of_the_menu(shelf, entry):
    facts = read_facts(entry.path) | {"licence": []}
    forged = shelf.folder / ("forged" + SUFFIX)
    save_file({"features": torch.zeros(1)}, forged, metadata={KEY: json.dumps(facts)})
    circle = shelf.folder / ("circle" + SUFFIX)
    circle.symlink_to(circle.name)
    pipe = shelf.folder / ("pipe" + SUFFIX)
    os.mkfifo(pipe)  # opening a named pipe would block for ever
    try:
        assert shelf.entries() == [entry]
    finally:
        for path in (forged, circle, pipe):
            path.unlink()


def test_masks_from_a_recording_equal_those_of_the_live_model(engine, entry, model):
    engine.model(entry.model)
    video = engine.clip(entry.path, 32)
    clip = ClipKey(video, entry.model)
    encoded = engine.encode(clip, Work())
    live = model.encode(gleanvid.read_video(CLIP, 4)).tokens
    for method in (QUARTER, gleanvid.GleanVID(0.1, tau=0.5)):
        run = engine.compress(clip, encoded, method)
        assert np.array_equal(run.compression.keep, method.compress(live).keep)
    assert engine.encoded(clip) is encoded


def test_recorded_answers_are_returned_for_their_settings_only(engine, entry, shelf):
    video = engine.clip(entry.path, 32)
    clip = ClipKey(video, entry.model)
    *pieces, run = engine.answer(clip, QUESTION, QUARTER, GREEDY, Work())
    assert isinstance(run, Run) and pieces == [run.answer] and run is shelf.open(entry.path).runs[0]
    for question, method in ((QUESTION, gleanvid.GleanVID(0.1)), ("Why?", QUARTER)):
        with pytest.raises(ModelError, match="its model is not loaded here"):
            list(engine.answer(clip, question, method, GREEDY, Work()))


def test_recorded_relevance_is_returned_for_its_question_only(engine, entry, shelf):
    clip = ClipKey(engine.clip(entry.path, 32), entry.model)
    (recorded,) = shelf.open(entry.path).relevance
    assert engine.relevance(clip, QUESTION, recorded.answer, Work()) is recorded
    with pytest.raises(ModelError, match="gleanvid record --relevance"):
        engine.relevance(clip, QUESTION, "another", Work())


def test_recordings_outside_the_folder_or_behind_a_symbolic_link_are_refused(
    engine, entry, shelf, tmp_path
):
    elsewhere = tmp_path / ("clip" + SUFFIX)
    elsewhere.write_bytes((shelf.folder / ("clip" + SUFFIX)).read_bytes())
    link = shelf.folder / ("link" + SUFFIX)
    link.symlink_to(elsewhere)
    for path in (elsewhere, link):
        with pytest.raises(ModelError, match="only from the server's own folder"):
            engine.clip(str(path), 8)
    with pytest.raises(ModelError, match="only from the server's own folder"):
        engine.model(f"recording:../{elsewhere.parent.name}/clip{SUFFIX}")
    assert [one.title for one in shelf.entries()] == ["clip"]
    link.unlink()


def test_clips_and_models_that_are_no_recording_use_the_normal_backend(engine):
    assert len(engine.clip(CLIP, 2)) == 2
    assert engine.model("builtin").name == "builtin"
