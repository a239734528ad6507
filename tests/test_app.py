"""The page as a whole: it builds, its settings are safe, and its events meet on one queue."""

from __future__ import annotations

import gradio as gr
import pytest

import app
from components import serving
from components.engine import Engine
from tests.components.fake import Library


@pytest.fixture(scope="module")
def page():
    return app.build_app(Engine(Library()))


def test_building_the_page_loads_no_model():
    library = Library()
    app.build_app(Engine(library))
    assert (library.loads, library.reads, library.encodes) == (0, 0, 0)


def test_the_line_of_the_engine_alone_decides_who_is_next(page):
    shared = [fn for fn in page.fns.values() if fn.name in ("on_look", "on_ask")]
    assert len(shared) >= 3
    assert {fn.concurrency_limit for fn in shared} == {None}


def test_nothing_heavy_runs_on_page_load(page):
    loads = [fn for fn in page.fns.values() if any(event == "load" for _, event in fn.targets)]
    assert loads and all(fn.fn is None for fn in loads)


def test_the_state_of_a_page_holds_no_run(page):
    states = [block for block in page.blocks.values() if isinstance(block, gr.State)]
    assert [type(state.value) for state in states] == [type(None), list]


def test_launch_keeps_to_itself():
    options = serving.options("127.0.0.1", None, False)
    assert options["share"] is False and options["run_history"] is False
    assert options["allowed_paths"] == [] and options["enable_monitoring"] is False
    assert options["show_error"] is False and options["max_file_size"]


def test_arguments_default_to_a_private_page():
    parsed = app.parse([])
    assert (parsed.host, parsed.port, parsed.share, parsed.model) == (
        "127.0.0.1",
        None,
        False,
        None,
    )
