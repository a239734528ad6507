"""For all tests: options, what garbage collection looks through, a Ray cluster."""

import gc
import os
from pathlib import Path

import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--golden-dir",
        type=Path,
        default=Path(__file__).parent / "golden",
        help="folder of reference outputs, one JSON file a method, for tests/parity",
    )


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
