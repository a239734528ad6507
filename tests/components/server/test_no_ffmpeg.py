"""The server itself opens no clip: uploads are decoded only in the sandbox."""

import subprocess

import gradio as gr
import pytest
from gradio.data_classes import FileData

from components.jobs.examples import Example
from components.tokens import clip
from tests.components.fake import write_clip


@pytest.fixture(autouse=True)
def no_programs(monkeypatch):
    def refuse(*given, **options):
        raise AssertionError(f"the server started {given}")

    monkeypatch.setattr(subprocess, "Popen", refuse)


def test_uploaded_clip_is_passed_on_without_conversion(tmp_path):
    path = tmp_path / "a.mkv"
    write_clip(path)
    with gr.Blocks():
        file = clip.ClipPanel([Example(path, "A", "What?")]).file
    shown = file.postprocess(str(path))
    assert shown is not None and shown.path == str(path)
    given = file.preprocess(FileData(path=str(path), orig_name=path.name))
    assert given == str(path)
    assert file.preprocess(None) is None and file.postprocess(None) is None
