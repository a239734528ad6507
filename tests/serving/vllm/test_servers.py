"""Several vLLM servers: which one answers, missing compression records, and use in the app.

The tests use fake servers with vLLM's protocol.
"""

import pytest

import gleanvid
from components.jobs.engine import Engine
from components.jobs.local import LocalBackend
from components.jobs.request import Request, Sides
from components.models.choosing import Choosing
from components.tokens.ask import ask
from gleanvid.models import load_model
from gleanvid.serving import vllm
from gleanvid.serving.vllm.client import servers_of
from gleanvid.serving.vllm.remote import load_own, load_served
from gleanvid.types import ModelError
from tests.serving.vllm.stand import standing

CLIP = "assets/clips/glimpse_1.mp4"
QUESTION = "What moves?"
OURS = {"grid": [4, 10, 10], "keep": list(range(100, 200))}


@pytest.fixture(scope="module")
def video():
    return gleanvid.read_video(CLIP, 8)


@pytest.fixture(scope="module")
def whole(video):
    """Number of prompt tokens without compression, counted in a run without vLLM."""
    return gleanvid.ask(video, QUESTION, load_model(device="cpu"), "full", 1).cost.prompt_tokens


@pytest.fixture
def quarter(whole):
    """A fake vLLM server that keeps 25 % of the tokens and reports compression records."""
    with standing() as server:
        server.prompt_tokens = whole - 300
        yield server


@pytest.fixture
def every(whole):
    """A fake vLLM server that keeps every token."""
    with standing() as server:
        server.told, server.prompt_tokens = None, whole
        yield server


@pytest.fixture
def name(quarter, every):
    return f"vllm:{quarter.url},{every.url}"


def test_only_servers_named_on_the_command_line_get_the_api_key(quarter, every, name, monkeypatch):
    monkeypatch.setattr(vllm, "_with_key", set())
    monkeypatch.setenv("VLLM_API_KEY", "secret\n")
    load_own(f"vllm:{quarter.url.removeprefix('http://')}/v1", device="cpu")
    load_served(name, device="cpu")
    assert quarter.keys == {"Bearer secret"} and every.keys == {None}
    monkeypatch.setenv("VLLM_API_KEY", "two\nlines")
    with pytest.raises(ValueError, match="printable") as refused:
        servers_of(name)
    assert "lines" not in str(refused.value)


def test_request_for_all_tokens_goes_to_the_server_without_compression(
    quarter, every, name, video, whole
):
    served = load_served(name, device="cpu")
    quarter.next_record.append(OURS)
    few = gleanvid.ask(video, QUESTION, served)
    assert (len(quarter.asked), len(every.asked)) == (1, 0)
    assert few.compression.keep.tolist() == OURS["keep"]
    full = gleanvid.ask(video, QUESTION, served, "full")
    assert (len(quarter.asked), len(every.asked)) == (1, 1)
    assert full.cost.prompt_tokens_kept == full.cost.prompt_tokens == whole
    assert full.compression.keep.tolist() == list(range(400))


def test_request_for_a_ratio_goes_to_the_server_with_that_ratio(quarter, video, whole):
    with standing() as half:
        half.told, half.prompt_tokens = half.told | {"pruning_rate": 0.5}, whole - 200
        served = load_served(f"vllm:{quarter.url}, {half.url}", device="cpu")
        for server, ratio in ((half, 0.5), (quarter, 0.25)):
            assert gleanvid.ask(video, QUESTION, served, gleanvid.GleanVID(ratio)).answer
            assert len(server.asked) == 1


def test_refusal_of_a_ratio_lists_the_ratios_that_servers_keep(quarter, every, name, video):
    served = load_served(name, device="cpu")
    known = r"keep 25% by gleanvid and all tokens for every .* and not {}: .* another server"
    others = {
        "50% by gleanvid": gleanvid.GleanVID(0.5),
        "25% by uniform": gleanvid.Uniform(0.25),
        r"25% by gleanvid with tau=2\.0": gleanvid.GleanVID(0.25, tau=2.0),
    }
    for words, other in others.items():
        with pytest.raises(ModelError, match=known.format(words)):
            gleanvid.ask(video, QUESTION, served, other)
    assert not quarter.asked and not every.asked


def test_tokens_chosen_by_the_library_are_shown_if_the_server_has_no_records(every, video, whole):
    every.prompt_tokens = whole - 300
    served = load_served(f"vllm:{every.url}", device="cpu")
    run = gleanvid.ask(video, QUESTION, served, "vcast")
    own = gleanvid.ask(video, QUESTION, load_model(device="cpu"), "vcast", 1)
    assert run.compression.keep.tolist() == own.compression.keep.tolist()
    assert run.cost.prompt_tokens == whole


def of_page(name, **more):
    """Ask model ``name`` a question in the app; return the app's engine and the page updates."""
    engine = Engine(LocalBackend({name: {"device": "cpu"}}))
    engine.pages.start("page")
    request = Request(CLIP, 8, name)
    return engine, list(ask(engine, "page", request, Sides(question=QUESTION), **more))


def test_app_asks_one_server_for_run_a_and_another_for_run_b(quarter, every, name):
    quarter.next_record.append(OURS)
    engine, updates = of_page(name, both=True)
    last = [update for update in updates if update.runs][-1]
    assert [(one["run"], one["text"]) for one in last.answers] == [
        (run_id, "green cross") for run_id in last.runs
    ]
    runs = {run.compressor["name"]: run for run in map(engine.runs.get, last.runs)}
    assert runs["gleanvid"].compression.keep.tolist() == OURS["keep"]
    assert runs["full"].compression.num_kept == 400
    assert (len(quarter.asked), len(every.asked)) == (1, 1)


def test_the_model_panel_loads_the_model_of_a_server():
    with standing() as server:
        engine, name = Engine(LocalBackend({}, {"device": "cpu"})), f"vllm:{server.url}"
        choosing = Choosing(engine, device="cpu")
        choosing.begin(name)
        *_, last = choosing.progress()
        assert (last.stage, engine.name) == ("ready", name), last.text
        assert [known for _, known in choosing.choices] == [name] and not server.asked
    choosing.begin(f"{name}0")
    *_, gone = choosing.progress()
    assert gone.stage == "failed" and "vLLM" in gone.text and engine.name == name
