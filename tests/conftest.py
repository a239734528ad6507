"""For all tests: options, which run alone, what garbage collection looks through, a Ray cluster."""

import gc
import os
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SERVERS = (
    "browser",
    "server",
    "components/server",
    "test_app.py",
    "test_start.py",
    "test_offline.py",
)


def pytest_addoption(parser):
    parser.addoption(
        "--families",
        default="",
        help="model families that tests/models runs on, separated by commas (all of them)",
    )
    parser.addoption(
        "--golden-dir",
        type=Path,
        default=TESTS / "golden",
        help="folder of reference outputs, one JSON file a method, for tests/parity",
    )


def pytest_collection_modifyitems(items):
    """Browsers, servers and Ray have clocks and processes of their own: they share no machine."""
    for item in items:
        is_server = any(item.path.is_relative_to(TESTS / place) for place in SERVERS)
        if is_server or "ray_workers" in item.fixturenames:
            item.add_marker("alone")


def pytest_collection_finish():
    settle()


@pytest.fixture(scope="module", autouse=True)
def _settled():
    yield
    settle()


def pytest_unconfigure():
    gc.unfreeze()


def settle():
    """What is alive now stays: garbage collection need not look through it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def ray_workers():
    """One Ray cluster for all tests: that of RAY_ADDRESS, or one started here."""
    pytest.importorskip("ray", reason="Ray is not installed (extra: ray)")
    from gleanvid.evaluation.run.ray_cluster import cluster

    with cluster(2, os.environ.get("RAY_ADDRESS")):
        yield
