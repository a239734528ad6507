"""Settings of all tests: options, distribution over processes, shared fixtures."""

import gc
import os
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
# Hypothesis: no deadline, as a busy machine is slow; the same examples in every run
settings.register_profile("tests", deadline=None, derandomize=True, database=None)
settings.load_profile("tests")
OWN_CLIPS = (
    "cli",
    "components/compare",
    "components/jobs",
    "components/models",
    "components/page",
    "components/tokens",
    "components/viewer",
    "evaluation",
    "glimpse",
    "models",
    "test_cli.py",
    "test_docs.py",
    "test_pipeline.py",
    "test_plugins.py",
    "test_several.py",
)


def pytest_addoption(parser):
    parser.addoption(
        "--families",
        default="qwen3_vl,llava_onevision,gemma4",
        help="model families that tests/models runs on, separated by commas, or all",
    )
    parser.addoption(
        "--golden-dir",
        type=Path,
        default=TESTS / "golden",
        help="folder of reference outputs, one JSON file a method, for tests/parity",
    )


def pytest_configure(config):
    """Give every process its own folder for Gradio: a server empties its folder on exit."""
    folder = tempfile.TemporaryDirectory(prefix="pages-", ignore_cleanup_errors=True)
    os.environ["GRADIO_TEMP_DIR"] = folder.name
    config.add_cleanup(folder.cleanup)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Run the tests of a file in one process, and all browser tests in one: they share a server."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return "browser" if "tests/browser/" in nodeid else super()._split_scope(nodeid)

    return Scheduling(config, log)


def pytest_collection_finish():
    settle()


@pytest.fixture(scope="module", autouse=True)
def _settled():
    yield
    settle()


@pytest.fixture(autouse=True)
def _decoded_here(request, monkeypatch):
    """Decode clips in the test's own process, for the tests in OWN_CLIPS: saves 0.3 s per clip."""
    if any(request.path.is_relative_to(TESTS / place) for place in OWN_CLIPS):
        from gleanvid.video import decoders
        from gleanvid.video.isolation import sandbox

        monkeypatch.setattr(sandbox, "decode", lambda request, *_: decoders.decode(request))


@pytest.fixture(scope="session", autouse=True)
def start_decoder():
    """Let decoding processes keep the usual priority: beside busy tests, niceness 10 starves them.

    The value is the program that starts one at its lower priority.
    """
    from gleanvid.video.isolation import spare

    usual = spare.START
    with pytest.MonkeyPatch.context() as patch:
        # the worker lowers its priority only where the system offers os.nice
        patch.setattr(spare, "START", "import os; vars(os).pop('nice', 0); " + usual)
        yield usual


def pytest_unconfigure():
    gc.unfreeze()


def settle():
    """Freeze all objects, so that later garbage collections do not scan them."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def own_plugins(monkeypatch):
    """Restore the registries of plug-ins after a test."""
    from gleanvid import plugins
    from gleanvid.compressors import COMPRESSORS
    from gleanvid.evaluation.benchmarks import BENCHMARKS
    from gleanvid.models import MODELS

    before = [(registry, {*registry}) for registry in (COMPRESSORS, MODELS, BENCHMARKS)]
    monkeypatch.setattr(plugins, "_files", {})
    yield
    for registry, names in before:
        for name in {*registry} - names:
            del registry[name]
    for name in [name for name in sys.modules if name.startswith("gleanvid_plugin_")]:
        del sys.modules[name]


@pytest.fixture(scope="session")
def ray_workers():
    """One Ray cluster for all tests: the running one at RAY_ADDRESS, or a new one."""
    pytest.importorskip("ray", reason="Ray is not installed (extra: ray)")
    from gleanvid.evaluation.run.ray_cluster import cluster

    with cluster(2, os.environ.get("RAY_ADDRESS")):
        yield


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory):
    from tests.models import tiny_qwen

    folder = tmp_path_factory.mktemp("tiny")
    tiny_qwen.qwen3_vl(folder)
    return str(folder)


@pytest.fixture(scope="session")
def model(model_folder):
    from gleanvid.models import load_model

    return load_model(model_folder, device="cpu")
