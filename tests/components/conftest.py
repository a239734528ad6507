from __future__ import annotations

import pytest

from tests.components.fake import write_clip
from tests.hub_fixtures import hub, published  # noqa: F401


@pytest.fixture
def clip(tmp_path):
    path = tmp_path / "clip.mp4"
    write_clip(path)
    return str(path)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return the folder of visitors' files, which is empty."""
    path = tmp_path / "cache"
    path.mkdir()
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(path))
    return path
