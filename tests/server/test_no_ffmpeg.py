"""The server itself opens no clip: what a visitor uploads is decoded in the sandbox alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import gradio as gr
import pytest
from gradio.data_classes import FileData

from components.panels import clip
from components.panels.player import Player
from components.session.examples import Example
from tests.components.fake import write_clip


@pytest.fixture(autouse=True)
def no_programs(monkeypatch):
    def refuse(*given, **options):
        raise AssertionError(f"the server started {given}")

    monkeypatch.setattr(subprocess, "Popen", refuse)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.avi"])
def test_a_clip_is_shown_as_it_is_stored(tmp_path, name):
    write_clip(tmp_path / "a.mp4")
    path = (tmp_path / "a.mp4").rename(tmp_path / name)
    with gr.Blocks():
        player = clip.panel([Example(path, "A", "What?")], 1, 8).video
    shown = player.postprocess(str(path))
    assert shown is not None and (shown.path, shown.orig_name) == (str(path), name)
    assert player.preprocess(FileData(path=str(path))) == str(path)
    assert player.preprocess(None) is None and player.postprocess(None) is None


def test_no_other_part_of_the_page_takes_a_video():
    root = Path(clip.__file__).parents[1]
    users = [path.name for path in root.rglob("*.py") if "gr.Video(" in path.read_text("utf-8")]
    assert users == []
    assert Player.__name__ == "Player" and Player().get_block_name() == "video"
