"""What a page shows as it opens: settings of its link and results from before a reload."""

import json
from types import SimpleNamespace

import gradio as gr
import pytest

from components.jobs.engine import Engine
from components.jobs.examples import Example
from components.jobs.request import Request, Sides
from components.page.page import build_app
from components.page.restore import BACK
from components.tokens.ask import ask
from components.tokens.previews import SLOW
from components.widgets.method_settings import MethodSettings
from gleanvid import GleanVID
from tests.components.fake import FakeBackend, write_clip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return an engine and a page with two examples; the page opens with the first one."""
    folder = tmp_path_factory.mktemp("clips")
    clips = []
    for name in ("first.mp4", "second.mp4"):
        write_clip(folder / name)
        known = ((f"What is in {name}?", "A square."),)
        clips.append(Example(folder / name, name, "What?", known))
    engine = Engine(FakeBackend())
    return engine, build_app(engine, examples=clips), clips


def loaded(site, kept="", **query):
    _, page, _ = site
    load = next(fn for fn in page.fns.values() if fn.name == "on_load")
    values = load.fn(SimpleNamespace(query_params=query), kept)
    assert set(values) <= set(load.outputs)
    kinds = {gr.Tabs: "tabs", MethodSettings: "settings"}
    named = {}
    for place, (block, value) in enumerate(values.items()):
        name = kinds.get(type(block), block.elem_id) or getattr(block, "label", None)
        named.setdefault(name or place, value)  # the settings in the open come before the folded
    return named


def test_page_opens_with_the_settings_of_its_vllm_server(site):
    """Settings in the link override the server's, which override those of the saved result."""
    engine, _, clips = site
    told = GleanVID(0.25, tau=3.0).settings()
    served = engine, build_app(engine, examples=clips, served=told), clips
    changed = loaded(served)
    assert changed["settings"] == {"retention_ratio": 0.25, "gleanvid.tau": 3.0}
    assert changed["Retention ratio"] == [0.25]
    assert changed["gv-tokens"]["value"] is None
    linked = loaded(served, retention_ratio="0.5")["settings"]
    assert linked == {"retention_ratio": 0.5, "gleanvid.tau": 3.0}
    assert any(fn.js == "gleanvid.openLink(true)" for fn in served[1].fns.values())


def test_link_without_parameters_updates_only_the_status_line(site):
    engine, _, _ = site
    engine.model("builtin")
    changed = loaded(site)
    assert set(changed) == {"gv-status"} and ("Model", "builtin") in changed["gv-status"]


def test_link_to_another_clip_shows_nothing_of_the_clip_shown_at_start(site):
    _, _, clips = site
    changed = loaded(site, clip="second.mp4")
    assert changed["gv-clip"] == str(clips[1].path)
    assert changed["gv-tokens"]["value"] is None and changed["gv-tokens"]["answers"] == []
    assert changed["gv-ready"] == ["What is in second.mp4?"]
    assert list(changed.values()).count([]) == 1  # the ids of the runs
    same = loaded(site, clip="first.mp4")
    assert not {"gv-tokens", "gv-ready"} & set(same)


def test_results_restored_after_a_reload_take_precedence_over_the_link(site, cache):
    engine, _, clips = site
    engine.pages.start("me")
    request = Request(str(clips[1].path), 8, "builtin")
    parts = list(ask(engine, "me", request, Sides(question="What is in second.mp4?")))
    last = [part for part in parts if part.runs][-1]
    kept = json.dumps({"shown": last.runs})
    changed = loaded(site, kept, clip="first.mp4", seed="4")
    assert changed["gv-clip"] == str(clips[1].path) and changed["Seed"] == 4
    assert changed["gv-tokens"]["value"]["runs"] == last.runs
    assert len(changed["gv-tokens"]["answers"]) == 2
    assert {"text": BACK, "kind": "quiet"} in changed.values()
    assert "Tokens" in dict(changed["gv-status"])


def test_message_on_slow_answers_names_the_switch_that_it_overrides(site):
    labels = {getattr(block, "label", None) for block in site[1].blocks.values()}
    assert SLOW.partition("“")[2].partition("”")[0] in labels
