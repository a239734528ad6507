"""Fixtures: a fake model hub on this machine, with a new cache for every test."""

import pytest
from huggingface_hub import constants

from tests import local_hub
from tests.models import tiny_qwen


@pytest.fixture(scope="session")
def published(tmp_path_factory):
    """Folder of a tiny random model with weights in several files."""
    folder = tmp_path_factory.mktemp("published")
    tiny_qwen.qwen3_vl(folder / "saved")
    return local_hub.in_shards(folder / "saved", folder / "sharded")


@pytest.fixture
def hub(published, tmp_path, monkeypatch):
    """A fake hub with the model ``tiny/model``; nothing is downloaded yet."""
    with local_hub.serving() as hub:
        hub.repositories["tiny/model"] = local_hub.Repository(published)
        template = hub.address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr("gleanvid.models.loading.hub.SECONDS", 30.0)
        monkeypatch.setattr(constants, "ENDPOINT", hub.address)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
        # Downloads run in a process of their own, which reads these variables.
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("HF_TOKEN_PATH", str(tmp_path / "token"))
        monkeypatch.delenv("HF_TOKEN", raising=False)
        monkeypatch.delenv("HUGGING_FACE_HUB_TOKEN", raising=False)
        yield hub
