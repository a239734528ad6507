import pytest
import torch

from components.jobs.engine import Engine
from components.jobs.local import BUILT_IN, LocalBackend
from components.jobs.queue import ModelQueue, Work
from components.models.choosing import Choosing
from gleanvid.compressors import COMPRESSORS
from gleanvid.errors import BusyError
from gleanvid.models.encoded import ClipKey
from gleanvid.models.generation.sampling import Sampling
from gleanvid.models.loading import fit
from gleanvid.models.loading.fit import Memory
from tests.components.fake import moving_square

NAME = "tiny/model"
GB = 10**9


@pytest.fixture(scope="module")
def engine():
    backend = LocalBackend({BUILT_IN: {"device": "cpu"}}, {"device": "cpu"})
    return Engine(backend, queue=ModelQueue())


@pytest.fixture
def choice(hub, engine):
    engine.model(BUILT_IN)
    return Choosing(engine, device="cpu")


def follow(choice, name, at_stage="", act=None):
    """Load a model; return all progress. ``act`` is called once in the stage ``at_stage``."""
    choice.begin(name)
    steps = []
    for step in choice.progress():
        steps.append(step)
        if act and step.stage == at_stage:
            act()
            act = None
    return steps


def stages(steps):
    return list(dict.fromkeys(step.stage for step in steps))


def answered_by(engine, name):
    """Ask the model a question; return the name of the model in the run."""
    clip, short = ClipKey(moving_square(4), name), Sampling(max_new_tokens=2)
    *_, run = engine.answer(clip, "What?", COMPRESSORS["uniform"](), short, Work())
    return run.model


def test_model_is_downloaded_and_loaded_while_the_built_in_model_answers(choice, engine, hub):
    hub.repositories[NAME].pause_s = 0.05
    before = []
    steps = follow(
        choice, NAME, "downloading", lambda: before.append(answered_by(engine, BUILT_IN))
    )
    assert before == [BUILT_IN] and {"looking", "downloading", "ready"} <= {*stages(steps)}
    counts = [step.done for step in steps if step.stage == "downloading"]
    assert len(counts) > 1 and counts == sorted(counts) and steps[-1].text == f"{NAME} is ready."
    assert engine.name == NAME == answered_by(engine, NAME) and (NAME, NAME) in choice.choices
    count = len(hub.requests)
    assert follow(choice, NAME)[-1].stage == "ready" and len(hub.requests) == count
    assert (f"{NAME} · in the cache", NAME) in Choosing(engine, [NAME], "cpu").offers()


def test_cancelled_download_keeps_the_model_in_use_and_goes_on_in_another_precision(
    choice, engine, hub
):
    hub.repositories[NAME].pause_s = 0.05

    def act():
        with pytest.raises(BusyError, match=f"{NAME} is being loaded"):
            choice.begin(BUILT_IN)
        choice.cancel()

    assert follow(choice, NAME, "downloading", act)[-1].stage == "cancelled"
    assert engine.name == BUILT_IN == answered_by(engine, BUILT_IN)
    hub.repositories[NAME].pause_s = 0
    assert follow(choice, f"{NAME}@bf16")[-1].name == f"{NAME}@bf16" == engine.name
    assert engine.loaded().hf_model.dtype == torch.bfloat16


def test_failed_load_gives_a_sentence_and_keeps_the_model_in_use(choice, engine, hub):
    hub.repositories[NAME].gated = True
    last = follow(choice, NAME)[-1]
    assert last.stage == "failed" and "is gated: accept its terms" in last.text
    assert engine.name == BUILT_IN


def test_model_that_does_not_fit_is_refused_before_its_download(choice, hub, monkeypatch):
    scarce(monkeypatch)
    steps = follow(choice, NAME)
    assert steps[-1].stage == "failed" and "a smaller model or fewer frames" in steps[-1].text
    assert hub.downloads() == ["config.json"]


def scarce(monkeypatch):
    there = Memory("cpu", GB // 1000, 64 * GB)
    monkeypatch.setattr("gleanvid.models.loading.outlook.memory", lambda _: there)


@pytest.mark.parametrize("fails", [False, True])
def test_model_that_needs_the_current_one_s_memory_replaces_it_once_it_is_idle(
    choice, engine, monkeypatch, fails
):
    """If the new model cannot be loaded, the previous one is loaded again."""
    scarce(monkeypatch)
    monkeypatch.setattr(Engine, "weights_gb", lambda _: 8.0)
    visitor, load, at_load = Work(), engine.backend.load_model, []
    assert list(engine.queue.wait(visitor)) == []

    def loading(name):
        # no deadline of the queue ends the load
        at_load.append((name, engine.name, len(engine.queue._timers)))
        if fails and name == NAME:
            raise torch.OutOfMemoryError("out of memory")
        return load(name)

    def act():
        assert engine.name == BUILT_IN
        engine.queue.leave(visitor)

    monkeypatch.setattr(engine.backend, "load_model", loading, raising=False)
    last = follow(choice, NAME, "waiting", act)[-1]
    assert at_load[0] == (NAME, None, 0) and len(engine.queue) == 0
    assert engine.name == (BUILT_IN if fails else NAME)
    assert ("ran out of memory" in last.text) == fails


def test_list_of_models_has_size_fit_and_licence_and_offers_4_bit(hub, engine, monkeypatch):
    monkeypatch.setattr(fit, "memory", lambda _=None: Memory("cuda", 23 * GB, 25 * GB))
    rows = Choosing(engine).offers(32)
    labels = {name: label for label, name in rows}
    eight = labels["Qwen/Qwen3-VL-8B-Instruct"]
    assert rows[0][0] == eight and "start with this one" in eight
    assert "17.6 GB · fits this machine · Apache-2.0" in eight
    assert "too large" in rows[-1][0] and "too large" in labels["Qwen/Qwen3-VL-32B-Instruct"]
    assert "too large: try 4-bit" in labels["google/gemma-4-12B-it@4bit"]
    assert "gated" in labels["facebook/Perception-LM-1B"] and not hub.requests
