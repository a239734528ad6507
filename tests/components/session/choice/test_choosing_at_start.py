from __future__ import annotations

import gradio as gr
import pytest

from components import launch
from components.server.endpoints import Calls
from components.session.work.local import BUILT_IN, PHOTOS
from gleanvid.errors import BusyError
from gleanvid.types import ModelError
from tests.components.panels.test_picker import panel_of
from tests.components.session.choice.test_choosing import NAME, scarce, stages
from tests.local_hub import Repository


def started_with(*words):
    """Return the ``Choosing`` of a private server started with these options.

    The built-in model is loaded.
    """
    options = launch.parse([*words, "--device", "cpu"])
    engine = launch.make_engine(options)
    engine.model(BUILT_IN)
    return launch.make_choosing(engine, options)


def progress_of_first_model(choice):
    choice.start()
    return list(choice.progress())


def test_no_other_model_can_be_chosen_before_the_first_one_is_loaded(hub):
    choice = started_with("--model", NAME)
    assert choice.now.stage == "looking" and NAME in choice.now.text and not choice.now.over
    assert not hub.requests
    with pytest.raises(BusyError, match=f"{NAME} is being loaded"):
        choice.begin("another/model")


def test_first_model_is_loaded_with_the_options_of_the_command_line(hub, monkeypatch):
    # Too little memory for a visitor to choose the model; the operator may still load it.
    scarce(monkeypatch)
    choice = started_with("--model", NAME, "--dtype", "bfloat16")
    steps = progress_of_first_model(choice)
    assert stages(steps)[:2] == ["looking", "downloading"] and steps[-1].stage == "ready"
    assert choice.engine.name == NAME and choice.engine.knows(NAME)
    assert str(choice.engine.loaded().hf_model.dtype) == "torch.bfloat16"


def test_terminal_prints_each_stage_of_loading_once(hub, capsys):
    hub.repositories[NAME].pause_s = 0.01
    choice = started_with("--model", f"{NAME}@bf16")
    choice.start()
    launch.report_choice(choice)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("* Looking up") and lines[-1] == f"* {NAME}@bf16 is ready."
    assert sum("Downloading" in line for line in lines) == 1
    assert choice.engine.name == f"{NAME}@bf16"


def progress_and_chosen_models(panel, **query):
    """Load a page; return the texts of the progress bar and the models chosen in the menu."""
    user = gr.Request(session_hash="page", query_params=query)
    items = [
        item for change in panel.on_first(user) if change != gr.skip() for item in change.items()
    ]
    texts = [value["text"] for widget, value in items if widget is panel.bar]
    return texts, [value["value"] for widget, value in items if widget is panel.menu]


def test_page_shows_loading_of_the_first_model_and_chooses_it_once_it_is_loaded(hub):
    choice = started_with("--model", NAME)
    panel = panel_of(choice)
    choice.start()
    texts, models = progress_and_chosen_models(panel)
    assert texts[0].startswith("Looking up") and texts[-1] == f"{NAME} is ready."
    assert models == [NAME]
    assert progress_and_chosen_models(panel) == ([], [NAME])  # page opened after the model loaded
    # A page whose link names another model keeps that model.
    assert progress_and_chosen_models(panel, model=BUILT_IN) == ([], [])


def test_failure_to_load_the_first_model_is_shown_and_the_built_in_model_answers(hub):
    hub.repositories[NAME].gated = True
    choice = started_with("--model", NAME)
    panel, last = panel_of(choice), progress_of_first_model(choice)[-1]
    assert last.stage == "failed" and "accept its terms" in last.text
    assert choice.engine.name == BUILT_IN and progress_and_chosen_models(panel) == ([last.text], [])
    choice.begin("no/body")  # other pages do not show a visitor's failed choice
    list(choice.progress())
    assert progress_and_chosen_models(panel) == ([], [])
    hub.repositories[NAME].gated = False
    choice.begin(NAME)
    assert [*choice.progress()][-1].stage == "ready"


def test_endpoints_refuse_the_first_model_until_it_is_loaded(hub, monkeypatch):
    monkeypatch.setattr("components.server.endpoints.uploaded", lambda video: video)
    choice = started_with("--model", NAME)
    calls = Calls(choice.engine, [BUILT_IN], 32, coming=NAME)

    def asked(model):
        return calls._request("clip.mp4", 8, model, "uniform", 0.5, None, {}).model

    for model in ("", NAME):
        with pytest.raises(gr.Error, match=f"{NAME} is not loaded yet"):
            asked(model)
    with pytest.raises(gr.Error, match="must be one of builtin"):
        asked("another/model")
    assert asked(BUILT_IN) == BUILT_IN
    progress_of_first_model(choice)
    assert asked("") == NAME


def public_engine(*words):
    """Return the model names and the engine of a public server with all its models loaded."""
    options = launch.parse(["--public", *words, "--device", "cpu"])
    return launch.names(options), launch.make_engine(options)


def test_public_server_loads_every_model_before_its_page_is_served(hub, published, capsys):
    hub.repositories["other/model"] = Repository(published)
    names, engine = public_engine("--model", NAME, "--offer", "other/model")
    before = len(hub.requests)
    assert engine.name == NAME and engine.model(BUILT_IN) and engine.model(PHOTOS)
    assert all(engine.holds(name) for name in names) and len(hub.requests) == before
    lines = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    steps = "Downloading", "Loading"
    assert lines == [f"* {step} {name}" for name in ("other/model", NAME) for step in steps]


def test_public_server_does_not_start_if_one_of_its_models_cannot_be_loaded(hub):
    hub.repositories[NAME].gated = True
    with pytest.raises(ModelError, match="accept its terms"):
        public_engine("--offer", NAME)
