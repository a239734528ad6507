"""A server is started with a model that has to be downloaded: every page sees how far it is."""

from __future__ import annotations

from contextlib import suppress

import gradio as gr
import pytest

from components import launch
from components.panels.page import BUILT_IN_MODEL, build_app
from components.server.api import Calls
from components.session.choice.choosing import Choosing
from components.session.work.engine import Engine
from components.session.work.local import BUILT_IN, LocalBackend
from components.session.work.queue import BusyError, Line
from tests.components.session.choice.test_choosing import NAME, gated, scarce, stages


def started_with(words):
    """What the server holds before its page is served, as ``components.launch`` makes it."""
    options = launch.parse([*words, "--device", "cpu"])
    engine = Engine(LocalBackend(launch.how_to_load(options), {"device": "cpu"}), line=Line())
    engine.model(BUILT_IN)
    return Choosing(engine, launch.names(options), device="cpu", first=options.model)


def test_it_is_on_its_way_before_the_download_begins_and_no_other_is_chosen(hub):
    choice = started_with(["--model", NAME])
    assert choice.now.stage == "looking" and NAME in choice.now.text and not choice.now.over
    assert choice.is_of("any page") and not hub.asked
    with pytest.raises(BusyError, match=f"{NAME} is being loaded"):
        choice.begin("another/model")


def test_stages_are_those_of_a_choice_and_a_line_each_in_the_terminal(hub, capsys):
    choice = started_with(["--model", NAME, "--dtype", "bfloat16"])
    choice.start()
    told = list(choice.progress())
    assert stages(told) == ["looking", "downloading", "loading", "warming", "ready"]
    assert choice.engine.name == NAME and choice.engine.knows(NAME)
    assert str(choice.engine.loaded().hf_model.dtype) == "torch.bfloat16"  # as the options say
    launch.tell(choice)
    assert capsys.readouterr().out == f"* {NAME} is ready.\n"


def test_the_terminal_tells_of_each_stage_once(hub, capsys):
    hub.repositories[NAME].pause_s = 0.01
    choice = started_with(["--model", NAME])
    choice.start()
    launch.tell(choice)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("* Looking at") and lines[-1] == f"* {NAME} is ready."
    assert sum("Downloading" in line for line in lines) == 1


def test_a_precision_in_its_name_counts(hub):
    choice = started_with(["--model", f"{NAME}@bf16"])
    choice.start()
    assert [*choice.progress()][-1].text == f"{NAME}@bf16 is ready."
    assert choice.engine.name == f"{NAME}@bf16"


def test_memory_that_seems_too_small_does_not_keep_the_operator_from_it(hub, monkeypatch):
    scarce(monkeypatch, 0.001)
    choice = started_with(["--model", NAME])
    choice.start()
    assert [*choice.progress()][-1].stage == "ready"


def test_how_it_failed_is_told_to_every_page_and_the_built_in_model_answers(hub):
    gated(hub.repositories[NAME])
    choice = started_with(["--model", NAME])
    choice.start()
    last = [*choice.progress()][-1]
    assert last.stage == "failed" and "accept its terms" in last.text
    assert last.usable == BUILT_IN and choice.is_of("any page")
    hub.repositories[NAME].gated = False
    choice.begin(NAME, page="one")  # tried again on a page
    assert [*choice.progress()][-1].stage == "ready" and not choice.is_of("another")


def test_a_page_that_is_left_does_not_cancel_it_and_a_stranger_cannot(hub):
    hub.repositories[NAME].pause_s = 0.02
    choice = started_with(["--model", NAME])
    choice.start()
    assert not choice.cancel("a page")
    assert choice.cancel() and [*choice.progress()][-1].stage == "cancelled"


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


def test_a_server_whose_model_is_here_does_nothing_as_a_page_loads(hub):
    choice = started_with(["--model", BUILT_IN])
    choice.first = ""
    assert on_first(choice) is None


def test_a_page_follows_it_and_has_it_chosen_once_it_is_there(hub):
    choice = started_with(["--model", NAME])
    follow = on_first(choice)
    choice.start()
    texts, models = shown(follow(visitor()))
    assert texts[0].startswith("Looking at") and texts[-1] == f"{NAME} is ready."
    assert models == [NAME]
    assert shown(follow(visitor())) == ([], [NAME])  # a page that comes later
    assert shown(follow(visitor(model=BUILT_IN))) == ([], [])  # its link says another


def test_strangers_are_told_where_it_stands_and_keep_no_thread(hub):
    hub.repositories[NAME].pause_s = 0.02
    choice = started_with(["--model", NAME])
    choice.strict = True
    follow = on_first(choice)
    choice.start()
    texts, _ = shown(follow(visitor()))
    assert len(texts) == 1 and not choice.now.over
    choice.cancel()
    list(choice.progress())


def test_no_other_model_answers_a_call_in_its_place(hub, monkeypatch):
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
