from __future__ import annotations

import threading

import pytest
import torch

from components.session.choice.choosing import Choosing
from components.session.choice.offers import HERE
from components.session.work.engine import Engine
from components.session.work.local import BUILT_IN, LocalBackend
from components.session.work.queue import ModelQueue, Work
from gleanvid.compressors import COMPRESSORS
from gleanvid.errors import BusyError
from gleanvid.models.encoded import ClipKey
from gleanvid.models.generation.sampling import Sampling
from gleanvid.models.loading import fit
from gleanvid.models.loading.fit import Memory
from gleanvid.run import Run
from gleanvid.types import ModelError
from tests.components.fake import moving_square
from tests.local_hub import Repository

NAME = "tiny/model"
GB = 10**9


@pytest.fixture(scope="module")
def engine():
    engine = Engine(
        LocalBackend({BUILT_IN: {"device": "cpu"}}, {"device": "cpu"}), queue=ModelQueue()
    )
    engine.model(BUILT_IN)
    return engine


@pytest.fixture
def choice(hub, engine):
    engine.model(BUILT_IN)
    return Choosing(engine, device="cpu")


def followed(choice, *how, **more):
    choice.begin(*how, **more)
    return list(choice.progress())


def stages(steps):
    return list(dict.fromkeys(step.stage for step in steps))


def asked(engine, name):
    clip = ClipKey(moving_square(4), name)
    short = Sampling(max_new_tokens=2)
    *_, run = engine.answer(clip, "What?", COMPRESSORS["uniform"](), short, Work())
    assert isinstance(run, Run)
    return run


def test_chosen_model_is_downloaded_loaded_tried_and_then_answers(choice, engine, hub):
    hub.repositories[NAME].pause_s = 0.005
    steps = followed(choice, NAME)
    assert stages(steps) == ["looking", "downloading", "loading", "warming", "ready"]
    bytes_ = [step.done for step in steps if step.stage == "downloading"]
    assert (
        2 < len(bytes_) < 50 and bytes_ == sorted(bytes_) and steps[-1].text == f"{NAME} is ready."
    )
    assert engine.name == NAME and asked(engine, NAME).model == NAME
    assert (NAME, NAME) in choice.choices
    count = len(hub.requests)
    assert "downloading" not in stages(followed(choice, NAME)) and len(hub.requests) == count


def test_choosing_the_model_in_use_does_not_load_it_again(choice, engine):
    in_use = engine.model(BUILT_IN)
    assert stages(followed(choice, BUILT_IN))[-1] == "ready"
    assert engine.loaded() is in_use


def test_answer_under_way_keeps_its_model_while_another_is_chosen(choice, engine):
    clip, short = ClipKey(moving_square(4), BUILT_IN), Sampling(max_new_tokens=8)
    answer = engine.answer(clip, "What?", COMPRESSORS["uniform"](), short, Work())
    next(answer)
    followed(choice, NAME)
    assert engine.name == NAME
    *_, run = answer
    assert run.model == BUILT_IN


def test_same_model_at_another_precision_is_another_model(choice, engine):
    steps = followed(choice, NAME, "bf16")
    assert steps[-1].name == f"{NAME}@bf16" == engine.name
    assert engine.loaded().hf_model.dtype == torch.bfloat16
    run = asked(engine, f"{NAME}@bf16")
    assert run.model == f"{NAME}@bf16"


def test_cancelled_download_keeps_the_partial_file_and_the_model_in_use(choice, engine, hub):
    hub.repositories[NAME].pause_s = 0.02
    choice.begin(NAME)
    steps = []
    for step in choice.progress():
        steps.append(step)
        if step.stage == "downloading" and step.done > step.total / 4:
            assert choice.cancel()
    assert steps[-1].stage == "cancelled" and not choice.cancel()
    assert engine.name == BUILT_IN and asked(engine, BUILT_IN).answer
    hub.repositories[NAME].pause_s = 0
    again = followed(choice, NAME)
    first = next(step for step in again if step.stage == "downloading")
    assert again[-1].stage == "ready" and hub.ranges() and first.total


def test_second_choice_of_a_model_is_refused_while_one_is_loading(choice, hub):
    hub.repositories[NAME].pause_s = 0.02
    choice.begin(NAME)
    with pytest.raises(BusyError, match=f"{NAME} is being loaded"):
        choice.begin(BUILT_IN)
    choice.cancel()
    assert list(choice.progress())[-1].stage == "cancelled"


def gated(repository):
    repository.gated = True


def corrupt(repository):
    repository.corrupt = True


@pytest.mark.parametrize(
    ("trouble", "name", "sentence"),
    [
        (gated, NAME, "is gated: accept its terms"),
        (corrupt, NAME, "arrived damaged"),
        (None, "no/body", "There is no model no/body"),
        (None, "/no/folder", "There is no directory"),
    ],
)
def test_failed_load_gives_a_sentence_and_the_model_in_use_still_answers(
    choice, engine, hub, trouble, name, sentence
):
    if trouble:
        trouble(hub.repositories[NAME])
    steps = followed(choice, name)
    assert steps[-1].stage == "failed" and sentence in steps[-1].text
    assert engine.name == BUILT_IN and asked(engine, BUILT_IN).answer


def test_model_that_cannot_answer_does_not_replace_the_model_in_use(choice, engine, monkeypatch):
    def broken(*_, **__):
        raise ModelError("It cannot answer.")
        yield

    monkeypatch.setattr(engine.backend, "stream_answer", broken, raising=False)
    steps = followed(choice, NAME)
    assert (steps[-1].stage, steps[-1].text) == ("failed", "It cannot answer.")
    assert engine.name == BUILT_IN


def scarce(monkeypatch, free_gb):
    there = Memory("cpu", int(free_gb * GB), 64 * GB)
    monkeypatch.setattr("gleanvid.models.loading.outlook.memory", lambda _: there)


def test_model_that_does_not_fit_into_memory_is_refused(choice, engine, hub, monkeypatch):
    scarce(monkeypatch, 0.001)
    steps = followed(choice, NAME)
    assert "a smaller model or fewer frames" in steps[-1].text
    assert stages(steps) == ["looking", "failed"]


def test_model_that_needs_the_current_model_s_memory_is_loaded_once_running_work_ends(
    choice, engine, monkeypatch
):
    scarce(monkeypatch, 0.001)
    monkeypatch.setattr(Engine, "weights_gb", lambda _: 8.0)
    visitor, others = Work(), []
    assert list(engine.queue.wait(visitor)) == []
    choice.begin(NAME)
    for step in choice.progress():
        others.append(step)
        if step.text.startswith("Waiting for the model: 1"):
            # the built-in model stays loaded until the visitor's work has ended
            assert engine.name == BUILT_IN
            engine.queue.leave(visitor)
        if step.stage == "loading":
            assert engine.name is None
    assert stages(others)[-4:] == ["waiting", "loading", "warming", "ready"]
    assert engine.name == NAME and len(engine.queue) == 0


def test_previous_model_is_reloaded_if_a_model_that_needs_its_memory_fails_to_load(
    choice, engine, monkeypatch
):
    scarce(monkeypatch, 0.001)
    monkeypatch.setattr(Engine, "weights_gb", lambda _: 8.0)
    load, back = engine.backend.load_model, threading.Event()

    def failing(name):
        if name == NAME:
            raise torch.OutOfMemoryError("out of memory")
        model = load(name)
        back.set()
        return model

    monkeypatch.setattr(engine.backend, "load_model", failing, raising=False)
    steps = followed(choice, NAME)
    assert steps[-1].stage == "failed" and "ran out of memory" in steps[-1].text
    assert engine.name == BUILT_IN and back.is_set() and asked(engine, BUILT_IN).answer


def test_list_of_models_says_if_a_model_fits_is_gated_or_is_recommended(hub, engine, monkeypatch):
    monkeypatch.setattr(fit, "memory", lambda _=None: Memory("cuda", 23 * GB, 25 * GB))
    rows = {row.name: row for row in Choosing(engine).offers(32)}
    assert not hub.requests
    eight = rows["Qwen/Qwen3-VL-8B-Instruct"]
    assert eight.first and eight.fits and "17.6 GB · fits this machine" in eight.label
    assert [name for name, row in rows.items() if row.first] == [eight.name]
    assert rows["Qwen/Qwen3-VL-32B-Instruct"].state == "too large"
    assert rows["google/gemma-4-12B-it"].state == "too large: try 4-bit"
    assert "gated" in rows["facebook/Perception-LM-1B"].label
    assert rows[BUILT_IN].here and "GB" not in rows[BUILT_IN].label


def test_label_of_an_offered_model_says_that_the_model_is_in_the_local_cache(choice):
    followed(choice, NAME)
    row = Choosing(choice.engine, [NAME], device="cpu").offers()[0]
    assert row.name == NAME and row.here and HERE in row.label


def test_page_opened_while_a_model_loads_follows_the_progress_to_its_end(choice, hub):
    assert [step.stage for step in choice.progress()] == ["nothing"]
    hub.repositories[NAME].pause_s = 0.02
    choice.begin(NAME)
    seen = [threading.Thread(target=lambda: list(choice.progress())) for _ in range(2)]
    for thread in seen:
        thread.start()
    choice.cancel()
    for thread in seen:
        thread.join(10)
        assert not thread.is_alive()
    assert choice.now.over


def test_cancelling_during_the_trial_answer_keeps_the_model_in_use(choice, engine, monkeypatch):
    def until_stopped(question, model, stop):
        yield "wo"
        stop.wait(10)  # a stopped answer ends without an error

    monkeypatch.setattr(engine.backend, "stream_answer", until_stopped, raising=False)
    choice.begin(NAME)
    steps = []
    for step in choice.progress():
        steps.append(step)
        if step.stage == "warming":
            choice.cancel()
    assert steps[-1].stage == "cancelled" and engine.name == BUILT_IN


def test_loading_may_take_longer_than_the_deadline_of_the_queue(hub, monkeypatch):
    slow = LocalBackend({BUILT_IN: {"device": "cpu"}}, {"device": "cpu"})
    engine, timed = Engine(slow, queue=ModelQueue(deadline_s=60)), []
    engine.model(BUILT_IN)
    scarce(monkeypatch, 0.001)
    monkeypatch.setattr(Engine, "weights_gb", lambda _: 8.0)
    load = slow.load_model

    def timing(name):
        timed.append((len(engine.queue), len(engine.queue._timers)))
        return load(name)

    monkeypatch.setattr(slow, "load_model", timing, raising=False)
    assert followed(Choosing(engine, device="cpu"), NAME)[-1].stage == "ready"
    assert timed == [(1, 0)]  # the work holds the queue, and no deadline ends it


def test_weight_files_missing_from_the_hub_s_listing_are_not_downloaded(
    choice, engine, hub, published, tmp_path
):
    folder = tmp_path / "listed"
    folder.mkdir()
    for file in published.iterdir():
        if "index" not in file.name:
            (folder / file.name).write_bytes(file.read_bytes())
    hub.repositories["odd/model"] = Repository(folder)
    steps = followed(choice, "odd/model")
    assert steps[-1].stage == "failed" and "did not list" in steps[-1].text
    assert engine.name == BUILT_IN
    assert not [path for _, path, _ in hub.requests if path.endswith("/model.safetensors")]
