"""The server itself opens no clip: uploads are decoded only in the sandbox."""

from __future__ import annotations

import subprocess
from pathlib import Path

import gradio as gr
import pytest
from gradio.data_classes import FileData

from components.panels import clip
from components.session.examples import Example
from tests.components.fake import write_clip


@pytest.fixture(autouse=True)
def no_programs(monkeypatch):
    def refuse(*given, **options):
        raise AssertionError(f"the server started {given}")

    monkeypatch.setattr(subprocess, "Popen", refuse)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.gif"])
def test_uploaded_clip_is_passed_on_without_conversion(tmp_path, name):
    write_clip(tmp_path / "a.mp4")
    path = (tmp_path / "a.mp4").rename(tmp_path / name)
    with gr.Blocks():
        file = clip.ClipPanel([Example(path, "A", "What?")], {}).file
    shown = file.postprocess(str(path))
    assert shown is not None and shown.path == str(path)
    given = file.preprocess(FileData(path=str(path), orig_name=name))
    assert given == str(path)
    assert file.preprocess(None) is None and file.postprocess(None) is None


def test_app_has_no_gradio_video_component():
    root = Path(clip.__file__).parents[1]
    users = [path.name for path in root.rglob("*.py") if "gr.Video(" in path.read_text("utf-8")]
    assert users == []
