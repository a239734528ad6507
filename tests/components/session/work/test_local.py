"""Loading a page: settings of its link, restored results, and the current status."""

from __future__ import annotations

import json
from types import SimpleNamespace

import gradio as gr
import pytest

from components.panels.page import build_app
from components.session.actions.ask import ask
from components.session.actions.restore import BACK
from components.session.examples import Example
from components.session.request import Request, Sides
from components.session.work.engine import Engine
from gleanvid import GleanVID
from tests.components.fake import FakeBackend, write_clip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """An engine and a page with two examples; the first is the one it opens with."""
    folder = tmp_path_factory.mktemp("clips")
    examples = []
    for name in ("first.mp4", "second.mp4"):
        write_clip(folder / name)
        known = ((f"What is in {name}?", "A square."),)
        examples.append(Example(folder / name, name, "What?", known))
    engine = Engine(FakeBackend())
    return engine, build_app(engine, examples=examples), examples


def loaded(site, kept="", **query):
    """The changes of loading: the value of every output by element id, label or index."""
    _, page, _ = site
    load = next(fn for fn in page.fns.values() if fn.name == "on_load")
    values = load.fn(SimpleNamespace(query_params=query), kept)
    assert set(values) <= set(load.outputs)
    named = {}
    for place, (block, value) in enumerate(values.items()):
        name = getattr(block, "elem_id", None) or getattr(block, "label", None)
        named["tabs" if isinstance(block, gr.Tabs) else name or place] = value
    return named


def test_page_opens_with_the_settings_of_its_vllm_server(site):
    """Its saved result has other settings, and a link takes precedence."""
    engine, _, examples = site
    told = GleanVID(0.25, tau=3.0).settings()
    served = engine, build_app(engine, examples=examples, served=told), examples
    changed = loaded(served)
    assert changed["gv-open"] == {"retention_ratio": 0.25, "gleanvid.tau": 3.0}
    assert changed["Retention ratio"] == [0.25]
    assert changed["gv-tokens"]["value"] is None and not changed["gv-budget"]["visible"]
    linked = loaded(served, retention_ratio="0.5")["gv-open"]
    assert linked == {"retention_ratio": 0.5, "gleanvid.tau": 3.0}
    assert any(fn.js == "gleanvid.openLink(true)" for fn in served[1].fns.values())


def test_an_empty_link_changes_the_status_alone(site):
    engine, _, _ = site
    engine.model("builtin")
    changed = loaded(site)
    assert set(changed) == {"gv-status"} and ("Model", "builtin") in changed["gv-status"]


def test_a_link_to_another_clip_shows_nothing_of_the_opening_one(site):
    _, _, examples = site
    changed = loaded(site, clip="second.mp4")
    assert changed["gv-clip"] == str(examples[1].path)
    assert changed["gv-tokens"]["value"] is None and changed["gv-tokens"]["answers"] == []
    assert changed["gv-ready"] == [{"text": "What is in second.mp4?", "fails": False}]
    assert list(changed.values()).count([]) == 2  # the remembered values and the runs
    assert changed["gv-budget"]["value"] is None and not changed["gv-budget"]["visible"]
    same = loaded(site, clip="first.mp4")
    assert not {"gv-tokens", "gv-ready", "gv-budget"} & set(same)


def test_the_comparison_and_the_tab_come_with_the_link(site):
    changed = loaded(site, methods="uniform", ratios="0.5", tab="Compare", seed="4")
    assert changed["gv-methods"] == ["uniform"] and changed["Retention ratio"] == [0.5]
    assert changed["Seed"] == 4 and changed["tabs"]["selected"] == "Compare"
    assert "tabs" not in loaded(site, tab="Evil")


def test_results_come_back_over_what_the_link_says(site, tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    engine, _, examples = site
    engine.pages.start("me")
    request = Request(str(examples[1].path), 8, "builtin")
    parts = list(ask(engine, "me", request, Sides(question="What is in second.mp4?")))
    last = [part for part in parts if part.runs][-1]
    kept = json.dumps({"shown": last.runs})
    changed = loaded(site, kept, clip="first.mp4", seed="4")
    assert changed["gv-clip"] == str(examples[1].path) and changed["Seed"] == 4
    assert changed["gv-tokens"]["value"]["runs"] == last.runs
    assert len(changed["gv-tokens"]["answers"]) == 2
    assert {"text": BACK, "kind": "quiet"} in changed.values()
    assert "Tokens" in dict(changed["gv-status"])
