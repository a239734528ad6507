from pathlib import Path

import pytest

from gleanvid.models import load_model
from tests.models.tiny_families import ALL, EVERY, FAMILIES, RECURRENT

HERE = Path(__file__).parent
# Model families that are compressed only before the language model, not between its layers.
AHEAD_ONLY = {"gemma4", "gemma4_large", "gemma4_unified", *RECURRENT}
# Models that differ from the first model of their family in MLP, vision tower, attention masks or
# timestamps.
VARIANTS = {"qwen3_vl_moe", "glm46v", "glm4v_moe", "gemma4_large", "gemma4_unified", "qwen3_5_moe"}
DENSE = [family for family in FAMILIES if family not in VARIANTS]
INSIDE = [family for family in FAMILIES if family not in AHEAD_ONLY]
# Code that all model families share is tested with three families only. They differ in what this
# code must handle: positions on a grid, newline tokens, attention windows.
few_families = pytest.mark.parametrize(
    "adapter",
    [name for name in ("qwen3_vl", "llava_onevision", "gemma4") if name in FAMILIES],
    indirect=True,
)


class Adapters(dict):
    """Dict from model family to a loaded tiny model, which is built when it is first read."""

    def __init__(self, chosen, new_folder):
        self.chosen, self.new_folder = chosen, new_folder

    def __missing__(self, family):
        if family not in self.chosen:
            pytest.skip(f"--families leaves out {family}")
        directory = self.new_folder(family)
        EVERY[family](directory)
        self[family] = load_model(directory, device="cpu")
        return self[family]


def chosen_families(config):
    """Return the model families that the option ``--families`` names."""
    named = set(config.getoption("--families").split(","))
    if named == {"all"}:
        return set(EVERY)
    if unknown := named - set(ALL):
        raise pytest.UsageError(f"--families: {min(unknown)} must be one of {', '.join(ALL)}")
    return named & set(EVERY)


def pytest_collection_modifyitems(config, items):
    left_out = set(EVERY) - chosen_families(config)
    config.hook.pytest_deselected(items=[item for item in items if left_out & families_of(item)])
    items[:] = [item for item in items if not left_out & families_of(item)]


def families_of(item):
    """Return the model families among a test's parameters; empty for tests of other folders."""
    if not (hasattr(item, "callspec") and item.path.is_relative_to(HERE)):
        return set()
    return {value for value in item.callspec.params.values() if value in list(EVERY)}


@pytest.fixture(scope="session")
def adapters(pytestconfig, tmp_path_factory):
    return Adapters(chosen_families(pytestconfig), tmp_path_factory.mktemp)


@pytest.fixture(params=DENSE)
def adapter(request, adapters):
    return adapters[request.param]


@pytest.fixture(params=list(FAMILIES))
def oracle_adapter(request, adapters):
    """Loaded model of each family and variant, for comparison with masked attention."""
    return adapters[request.param]


@pytest.fixture(params=list(EVERY))
def every_adapter(request, adapters):
    return adapters[request.param]


@pytest.fixture
def qwen3(adapters):
    return adapters["qwen3_vl"]
