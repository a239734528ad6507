import pytest

from components.jobs.engine import Engine
from components.page.page import build_app
from tests.components.fake import FakeBackend, write_clip
from tests.hub_fixtures import hub, published  # noqa: F401


@pytest.fixture
def clip(tmp_path):
    path = tmp_path / "clip.mp4"
    write_clip(path)
    return str(path)


@pytest.fixture(scope="session")
def plain_page():
    """Return the page of a fake backend without examples, for tests that only look at its parts."""
    return build_app(Engine(FakeBackend()))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return the folder of visitors' files, which is empty."""
    path = tmp_path / "cache"
    path.mkdir()
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(path))
    return path
