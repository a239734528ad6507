"""A link brings every setting back, and nothing that a widget could not say."""

from __future__ import annotations

import json
from pathlib import Path

import gradio as gr
import pytest

from components.panels import compare, link, query
from components.panels.settings import model as models
from components.panels.settings import panel
from components.server.serving import LOCAL
from components.session.examples import Example
from gleanvid import COMPRESSORS

TABS = ("Tokens", "Curves")
EXAMPLES = [Example(Path("/clips/square.mp4"), "Square", "What?")]


@pytest.fixture(scope="module")
def page():
    with gr.Blocks():
        model = models([("Tiny", "builtin")])
        settings, _ = panel(COMPRESSORS, "gleanvid", 0.25, model, LOCAL)
        question = gr.Textbox()
        clip, ratios = gr.Video(), compare.panel(COMPRESSORS).named()
    more = {"question": question, "a": gr.Textbox()}
    named = {"clip": clip} | settings.named() | more | ratios
    return query.Links(named, settings.controls.own, EXAMPLES, TABS), settings.controls


@pytest.fixture(scope="module")
def links(page):
    return page[0]


@pytest.fixture(scope="module")
def controls(page):
    return page[1]


def said(links, **settings):
    """What a link changes, by name."""
    return links.valid(settings) | links.settings(settings)


def test_a_link_copied_before_a_setting_was_renamed_still_sets_it(links):
    earlier = {"gleanvid.temperature": "2", "gleanvid.history": "3", "vcast.temperature": "2"}
    assert said(links, **earlier, temperature="0.5") == {
        "gleanvid.tau": 2,
        "gleanvid.novelty_history": 3,
        "vcast.temperature": 2,
        "temperature": 0.5,  # how the answer is sampled
    }


def test_valid_values_come_back_in_their_kind(links):
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
    assert said(links, **settings) == {
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
        {"retention_ratio": "-1"},
        {"compressor": "evil"},
        {"model": "someone/else"},
        {"seed": "many"},
        {"nothing": "1"},
        {"methods": "evil,full", "ratios": "2"},
    ],
)
def test_what_a_widget_could_not_say_changes_nothing(links, settings):
    assert said(links, **settings) == {}
    ours = {name: text for name, text in settings.items() if name != "nothing"}
    assert links.unread(settings) == ours


def test_what_a_link_says_that_nothing_here_could_is_named_in_one_line(links):
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
    right = {"frames": "16", "gleanvid.temperature": "2", "tab": "Curves", "view": "heat"}
    others = {"utm_source": "mail", "__theme": "dark"}
    assert links.unread(right | others | {"seed": ""}) == {}
    found = links.unread(others | {"frames": "16"} | wrong)
    assert found == wrong
    value = query.unread_value({"retention_ratio": "9", "clip": "x" * 99})
    assert value["names"] == ["retention_ratio", "clip"]
    assert "retention ratio “9”, clip “xxx" in value["text"] and len(value["text"]) < 120
    assert query.unread_value({}) == {"text": "", "names": []}


def test_the_page_knows_names_and_defaults_of_what_comes_together(links, controls):
    inner, named = gr.Checkbox(True), links.named
    linked = link.LinkWidgets(named, [], ["seed"], gr.HTML())
    packed = [named["seed"], inner, *controls.parts]
    script = link.defaults_script(packed, linked, controls, EXAMPLES)
    read = json.JSONDecoder().raw_decode
    texts, place = [], script.index("(", script.index("gvDefaults")) + 1
    while len(texts) < 4:
        value, place = read(script, place)
        texts.append(value)
        place += 2
    names, defaults, folded, examples = texts
    assert names == ["seed", None, "", ""] and examples == ["clips/square.mp4"]
    assert {"compressor", "gleanvid.tau", "vcast.temperature", "ratios"} <= set(defaults)
    assert defaults["gleanvid.novelty_history"] is None and defaults["retention_ratio"] == 0.25
    assert "gleanvid.debias_rank" in folded and not {"gleanvid.tau", "retention_ratio"} & {*folded}


@pytest.mark.parametrize(
    ("settings", "meant"),
    [
        ({"tau": "2", "ratio": "0.1"}, {"gleanvid.tau": 2, "retention_ratio": 0.1}),
        ({"compressor": "vcast", "temperature": "0.5"}, {}),  # of the answer
        ({"gleanvid.novelty_history": "3"}, {"gleanvid.novelty_history": 3}),
        ({"gleanvid.history.auto": "false"}, {"gleanvid.novelty_history": 4}),
        (
            {"gleanvid.novelty_history.auto": "true", "gleanvid.novelty_history": "3"},
            {"gleanvid.novelty_history": None},
        ),
        ({"dycoke.drop_share": "none"}, {"dycoke.drop_share": None}),
        ({"gleanvid.tau": "none"}, {}),
    ],
)
def test_settings_of_methods_are_read_in_every_form_that_links_had(links, settings, meant):
    assert links.settings(settings) == meant
    ours = {"gleanvid.tau": "none"} if settings.get("gleanvid.tau") else {}
    assert links.unread(settings) == ours


def test_names_of_before_leave_the_address_where_the_setting_has_another(links):
    said = {"tau": "2", "ratio": "0.3", "gleanvid.history.auto": "false", "frames": "8"}
    assert links.replaced(said | {"gleanvid.alpha_min": "0.3", "utm_source": "mail"}) == [
        "tau",
        "ratio",
        "gleanvid.history.auto",
    ]
    assert query.unread_value({}, ["tau"]) == {"text": "", "names": ["tau"]}
