"""A server started with a model that has to be downloaded: pages show how far it is."""

from __future__ import annotations

from contextlib import suppress

import gradio as gr
import pytest

from components import launch
from components.panels.page import BUILT_IN_MODEL, build_app
from components.server.api import Calls
from components.session.choice.choosing import Choosing
from components.session.choice.loader import load_all
from components.session.work.engine import Engine
from components.session.work.local import BUILT_IN, Library
from components.session.work.queue import BusyError, Line
from gleanvid.types import ModelError
from tests.components.session.choice.test_choosing import NAME, gated, scarce, stages
from tests.local_hub import Repository


def started_with(words):
    """What the server holds before its page is served, as ``components.launch`` makes it."""
    options = launch.parse([*words, "--device", "cpu"])
    engine = Engine(Library(launch.how_to_load(options), {"device": "cpu"}), line=Line())
    engine.model(BUILT_IN)
    return Choosing(engine, launch.names(options), device="cpu", first=options.model)


def test_no_other_model_can_be_chosen_before_the_first_one_is_loaded(hub):
    choice = started_with(["--model", NAME])
    assert choice.now.stage == "looking" and NAME in choice.now.text and not choice.now.over
    assert not hub.requests
    with pytest.raises(BusyError, match=f"{NAME} is being loaded"):
        choice.begin("another/model")


def test_first_model_goes_through_the_stages_of_a_choice(hub, capsys):
    choice = started_with(["--model", NAME, "--dtype", "bfloat16"])
    choice.start()
    told = list(choice.progress())
    assert stages(told) == ["looking", "downloading", "loading", "warming", "ready"]
    assert choice.engine.name == NAME and choice.engine.knows(NAME)
    assert str(choice.engine.loaded().hf_model.dtype) == "torch.bfloat16"  # as the options say
    launch.report_choice(choice)
    assert capsys.readouterr().out == f"* {NAME} is ready.\n"


def test_terminal_shows_each_stage_once(hub, capsys):
    hub.repositories[NAME].pause_s = 0.01
    choice = started_with(["--model", NAME])
    choice.start()
    launch.report_choice(choice)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("* Looking at") and lines[-1] == f"* {NAME} is ready."
    assert sum("Downloading" in line for line in lines) == 1


def test_precision_in_the_name_of_the_first_model_is_used(hub):
    choice = started_with(["--model", f"{NAME}@bf16"])
    choice.start()
    assert [*choice.progress()][-1].text == f"{NAME}@bf16 is ready."
    assert choice.engine.name == f"{NAME}@bf16"


def test_first_model_is_loaded_even_if_memory_seems_too_small(hub, monkeypatch):
    scarce(monkeypatch, 0.001)
    choice = started_with(["--model", NAME])
    choice.start()
    assert [*choice.progress()][-1].stage == "ready"


def test_failure_is_shown_on_every_page_and_the_built_in_model_answers(hub):
    gated(hub.repositories[NAME])
    choice = started_with(["--model", NAME])
    choice.start()
    last = [*choice.progress()][-1]
    assert last.stage == "failed" and "accept its terms" in last.text
    assert choice.engine.name == BUILT_IN
    texts, _ = shown(on_first(choice)(visitor()))
    assert texts == [last.text]
    hub.repositories[NAME].gated = False
    choice.begin(NAME)  # tried again on a page
    assert [*choice.progress()][-1].stage == "ready"


def on_first(choice):
    """What a page does as it loads, if anything, besides reading its link."""
    page = build_app(choice.engine, [BUILT_IN_MODEL], choosing=choice)
    loading = [fn for fn in page.fns.values() if fn.fn and (page._id, "load") in fn.targets]
    return next((fn.fn for fn in loading if fn.name == "on_first"), None)


def visitor(**query):
    return gr.Request(session_hash="page", query_params=query)


def until_it_ends(changes):
    """Changes of an event that may end without those that follow its success."""
    with suppress(gr.Error):
        yield from changes


def shown(changes):
    """The sentences of the bar, and the models chosen in the menu."""
    changes = until_it_ends(changes)
    by_widget = [item for change in changes if change != gr.skip() for item in change.items()]
    texts = [value["text"] for _, value in by_widget if isinstance(value, dict) and "text" in value]
    models = [value["value"] for widget, value in by_widget if widget.elem_id == "gv-model"]
    return texts, models


def test_no_event_on_page_load_if_the_first_model_is_here(hub):
    choice = started_with(["--model", BUILT_IN])
    choice.first = ""
    assert on_first(choice) is None


def test_page_follows_the_first_model_and_chooses_it_once_it_is_loaded(hub):
    choice = started_with(["--model", NAME])
    follow = on_first(choice)
    choice.start()
    texts, models = shown(follow(visitor()))
    assert texts[0].startswith("Looking at") and texts[-1] == f"{NAME} is ready."
    assert models == [NAME]
    assert shown(follow(visitor())) == ([], [NAME])  # a page that comes later
    assert shown(follow(visitor(model=BUILT_IN))) == ([], [])  # its link says another


def test_endpoints_refuse_until_the_first_model_is_loaded(hub, monkeypatch):
    monkeypatch.setattr("components.server.api.uploaded", lambda video: video)
    choice = started_with(["--model", NAME])
    calls = Calls(choice.engine, [BUILT_IN], 32, coming=NAME)

    def asked(model):
        return calls._request("clip.mp4", 8, model, "uniform", 0.5, None, {}).model

    for model in ("", NAME):
        with pytest.raises(gr.Error, match=f"{NAME} is not loaded yet"):
            asked(model)
    with pytest.raises(gr.Error, match="must be one of builtin"):
        asked("another/model")
    assert asked(BUILT_IN) == BUILT_IN
    choice.start()
    list(choice.progress())
    assert asked("") == NAME


STEPS = "Downloading", "Loading"


def public_engine(words):
    """The names and the engine of a public server, as ``components.launch`` makes them."""
    options = launch.parse([*words, "--device", "cpu"])
    names = launch.names(options)
    library = Library(launch.how_to_load(options), {"device": "cpu"})
    return names, Engine(library, line=Line(), most_models=len(names))


def test_public_server_loads_every_model_before_its_page_is_served(hub, published, capsys):
    hub.repositories["other/model"] = Repository(published)
    names, engine = public_engine(["--model", NAME, "--offer", "other/model"])
    load_all(engine, names, "cpu", launch.stage_printer())
    before = len(hub.requests)
    assert engine.name == NAME and engine.model(BUILT_IN)
    assert all(engine.holds(name) for name in names) and len(hub.requests) == before
    lines = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert lines == [f"* {what} {name}" for name in ("other/model", NAME) for what in STEPS]


def test_public_server_does_not_start_without_one_of_its_models(hub):
    gated(hub.repositories[NAME])
    names, engine = public_engine(["--offer", NAME])
    with pytest.raises(ModelError, match="accept its terms"):
        load_all(engine, names, "cpu", launch.stage_printer())
