import pytest

from components.jobs.models import Models
from gleanvid.types import ModelError


class Loader:
    """Fake model loader that counts its loads and fails for the name "broken"."""

    def __init__(self):
        self.loads = []

    def __call__(self, name):
        self.loads.append(name)
        if name == "broken":
            raise ModelError("It is broken.")
        return object()


@pytest.fixture
def load():
    return Loader()


def test_second_loaded_model_replaces_the_first_by_default(load):
    models = Models(load)
    first = models.get("a")
    assert models.get("a") is first and load.loads == ["a"]
    models.get("b")
    assert list(models.held) == ["b"] and models.seen == {"a", "b"}


def test_models_within_the_limit_stay_loaded_and_the_least_recently_used_is_unloaded_first(load):
    models = Models(load, most=2)
    first = [models.get(name) for name in "ab"]
    assert [models.get(name) for name in "ababa"] == [*first * 2, first[0]]
    assert load.loads == ["a", "b"]
    models.get("c")
    assert list(models.held) == ["a", "c"]


def test_opening_recordings_does_not_unload_a_model(load):
    models = Models(load)
    for name in ("a", "recording:1", "recording:2", "recording:3", "a"):
        models.get(name)
    assert list(models.held) == ["recording:2", "recording:3", "a"] and load.loads.count("a") == 1


def test_model_in_memory_is_unloaded_even_if_loading_the_next_model_fails(load):
    models = Models(load)
    models.get("a")
    with pytest.raises(ModelError):
        models.get("broken")
    assert not models.held and models.get("a")
