"""A tab that is loaded again gets its results back, and no others."""

from __future__ import annotations

import json

import pytest

from components.session import restore
from components.session.actions import ask, preview
from components.session.engine import Engine
from components.session.examples import Example
from components.session.request import Request
from gleanvid import GleanVID
from tests.components.fake import Library, write_clip


@pytest.fixture
def clip(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "cache"))
    path = tmp_path / "clip.mp4"
    write_clip(path)
    return path


@pytest.fixture
def page(clip):
    """An engine, what the page showed last, and what the browser keeps of it."""
    engine, turns, shown = Engine(Library()), [], None
    for question in ("First?", "Second?"):
        engine.start("me")
        request = Request(str(clip), 8, "builtin", GleanVID)
        shown = list(ask(engine, "me", request, question, turns))[-1]
        turns = shown.exchanges
    request = Request(str(clip), 8, "builtin", lambda: GleanVID(0.5))
    looked = list(preview(engine, request, shown.runs))[-1]
    return engine, turns, looked, said(turns, looked.runs)


def said(turns, shown) -> str:
    return json.dumps({"turns": [turn["id"] for turn in turns], "shown": shown})


def test_turns_viewer_and_clip_come_back(page, clip):
    engine, turns, looked, kept = page
    back = restore.restored(engine, kept, [Example(clip, "Clip", "", (("First?", "Red."),))])
    assert back.text == restore.BACK and back.path == str(clip)
    assert back.exchanges == [turns[0] | {"expected": "Red."}, turns[1]]
    assert back.runs[:2] == looked.runs and back.viewer["runs"] == back.runs
    assert back.viewer["methods"][:2] == looked.viewer["methods"]
    assert back.viewer["novelty"] == looked.viewer["novelty"] is not None


def test_a_clip_read_under_a_pixel_limit_keeps_its_novelty(clip):
    engine = Engine(Library())
    engine.start("me")
    request = Request(str(clip), 8, "builtin", GleanVID, pixels=100)
    asked = list(ask(engine, "me", request, "First?", []))[-1]
    previewed = list(preview(engine, request))[-1]
    for update in (asked, previewed):
        back = restore.restored(engine, json.dumps({"turns": [], "shown": update.runs}), [])
        assert back.viewer["novelty"] == update.viewer["novelty"] is not None


def test_what_is_gone_is_said(page, clip):
    engine, turns, looked, kept = page
    clip.unlink()
    lost = said([*turns, {"id": "gone"}], looked.runs)
    back = restore.restored(engine, lost, [])
    assert restore.NO_CLIP in back.text and restore.SOME_GONE in back.text
    assert back.path is None and len(back.exchanges) == 2
    assert restore.restored(Engine(Library()), kept, []) == restore.Restored(restore.ALL_GONE)


@pytest.mark.parametrize(
    "text", [None, "", "no", "[]", "{}", '{"turns": 3, "shown": []}', '{"turns": [], "shown": []}']
)
def test_what_no_page_kept_changes_nothing(page, text):
    assert restore.restored(page[0], text, []) is None


def test_more_than_a_page_shows_is_not_read(page):
    engine, turns, _, _ = page
    back = restore.restored(engine, said(turns * 30, [turns[0]["id"]] * 99), [])
    assert len(back.exchanges) == restore.EXCHANGES_SHOWN
    asked, shown = restore.kept(json.dumps({"turns": list("ab") * 30, "shown": list("c") * 99}))
    assert (len(asked), len(shown)) == (restore.EXCHANGES_SHOWN, restore.MAX_METHODS)


def test_ids_cannot_be_guessed(page):
    _, turns, looked, _ = page
    ids = {turn["id"] for turn in turns} | set(looked.runs)
    assert len(ids) == 3 and all(len(run_id) >= 22 for run_id in ids)  # 128 bits
