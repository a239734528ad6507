from __future__ import annotations

import pytest

from tests.components.fake import write_clip


@pytest.fixture
def clip(tmp_path):
    path = tmp_path / "clip.mp4"
    write_clip(path)
    return str(path)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "cache"))
