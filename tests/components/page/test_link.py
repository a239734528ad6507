"""Links restore every setting, and ignore values that no widget allows."""

import json
import re
from pathlib import Path

import gradio as gr
import pytest

from components.compare.panel import CompareTab
from components.jobs.examples import Example
from components.page import query
from components.page.link import LinkPanel
from components.page.settings import SettingsPanel, model_menu
from components.places import ASSETS
from components.server.serving import LOCAL
from gleanvid import COMPRESSORS

TABS = ("Tokens", "Compare")
EXAMPLES = [Example(Path("/clips/square.mp4"), "Square", "What?")]


@pytest.fixture(scope="module")
def panel():
    with gr.Blocks():
        model = model_menu([("Tiny", "builtin")])
        return SettingsPanel(COMPRESSORS, "gleanvid", 0.25, model, LOCAL)


@pytest.fixture(scope="module")
def links(panel):
    with gr.Blocks():
        more = {"clip": gr.Video(), "question": gr.Textbox(), "a": gr.Textbox()}
        named = panel.linked() | more | CompareTab(COMPRESSORS).linked()
    clips = {example.path.name: str(example.path) for example in EXAMPLES}
    return query.Links(named, panel.controls.own, clips.get, TABS)


def changes_of_link(links, **settings):
    """Return the changes that opening a link with ``settings`` makes, by setting name."""
    return links.valid(settings) | links.settings(settings)


def test_valid_values_of_a_link_are_restored_with_their_type(links):
    settings = {
        "clip": "square.mp4",
        "frames": "16",
        "retention_ratio": "0.1",
        "compressor": "vidcom2",
        "gleanvid.alpha_min": "0.3",
        "question": "Why ${1+1}?",
        "seed": "7",
        "methods": "vidcom2,evil,uniform",
        "ratios": "0.1,0.25,7",
    }
    assert changes_of_link(links, **settings) == {
        "clip": "/clips/square.mp4",
        "frames": 16,
        "retention_ratio": 0.1,
        "compressor": "vidcom2",
        "gleanvid.alpha_min": 0.3,
        "question": "Why ${1+1}?",
        "seed": 7,
        "methods": ["vidcom2", "uniform"],
        "ratios": [0.1, 0.25],
    }


@pytest.mark.parametrize(
    "settings",
    [
        {"clip": "../../etc/passwd"},
        {"frames": "9999"},
        {"frames": "nan"},
        {"model": "someone/else"},
        {"seed": "many"},
        {"nothing": "1"},
        {"methods": "evil,full", "ratios": "2"},
    ],
)
def test_values_of_a_link_that_no_widget_allows_change_nothing(links, settings):
    assert changes_of_link(links, **settings) == {}
    ours = {name: text for name, text in settings.items() if name != "nothing"}
    assert links.unread(settings) == ours


def test_invalid_values_of_a_link_are_named_in_one_line(links):
    wrong = {
        "retention_ratio": "9",
        "compressor": "other",
        "clip": "gone.mp4",
        "methods": "vidcom2,evil",
        "a": "{broken",
        "tab": "Else",
        "view": "none",
        "gleanvid.new": "1",
    }
    right = {"frames": "16", "gleanvid.tau": "2", "tab": "Compare", "view": "heat"}
    others = {"utm_source": "mail", "__theme": "dark"}
    assert links.unread(right | others | {"seed": ""}) == {}
    found = links.unread(others | {"frames": "16"} | wrong)
    assert found == wrong
    value = query.unread_value({"retention_ratio": "9", "clip": "x" * 99})
    assert value["names"] == ["retention_ratio", "clip"]
    assert "retention ratio “9”, clip “xxx" in value["text"] and len(value["text"]) < 120
    assert query.unread_value({}) == {"text": "", "names": []}


def test_reading_a_link_leaves_out_an_uploaded_clip_and_its_hand_edited_tokens():
    link = {"clip": query.OWN, "by_hand.keep": "4x5x5 0-9", "frames": "8"}
    assert query.without_own_clip(link) == {"frames": "8"}
    value = query.unread_value({}, own=["clip", "by_hand.keep"])
    assert value == {"text": query.NOT_IN_LINK, "names": ["clip", "by_hand.keep"]}
    other = link | {"clip": "first.mp4"}
    assert query.without_own_clip(other) == other


@pytest.mark.parametrize(
    ("settings", "meant"),
    [
        ({"retention_ratio": "0.1"}, {"retention_ratio": 0.1}),
        # "temperature" without a method's name is the sampling temperature, also for V-CAST.
        ({"compressor": "vcast", "temperature": "0.5"}, {}),
        ({"gleanvid.novelty_history": "3"}, {"gleanvid.novelty_history": 3}),
        ({"dycoke.drop_share": "none"}, {"dycoke.drop_share": None}),
        ({"gleanvid.tau": "none"}, {}),
    ],
)
def test_link_gives_a_method_s_settings_by_full_name(links, settings, meant):
    assert links.settings(settings) == meant
    ours = {"gleanvid.tau": "none"} if settings.get("gleanvid.tau") else {}
    assert links.unread(settings) == ours


def test_link_may_name_every_view_that_the_viewer_has():
    script = (ASSETS / "viewer" / "controls.js").read_text("utf-8")
    (listed,) = re.findall(r"KINDS = (\[.*?\]);", script)
    assert tuple(json.loads(listed)) == query.VIEWS


def test_only_files_that_visitors_uploaded_can_be_restored(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "files"))
    (tmp_path / "secret.mp4").touch()
    upload = tmp_path / "files" / ("a" * 64) / "own.mp4"
    upload.parent.mkdir(parents=True)
    upload.touch()
    with gr.Blocks():
        panel = LinkPanel(None, None)
    assert panel.kept_clip(f"{'a' * 64}/own.mp4") == str(upload)
    for name in ("../secret.mp4", f"{'a' * 64}/../../secret.mp4", f"{'a' * 64}/gone.mp4", "", "/"):
        assert panel.kept_clip(name) is None
