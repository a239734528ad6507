"""Options of the test command."""

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
    """What the imports made stays: garbage collection during the tests need not look through it."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure():
    gc.unfreeze()


@pytest.fixture(scope="session")
def ray_workers():
    """One Ray cluster for all tests: that of RAY_ADDRESS, or one started here."""
    pytest.importorskip("ray", reason="Ray is not installed (extra: ray)")
    from gleanvid.evaluation.ray_cluster import cluster

    with cluster(2, os.environ.get("RAY_ADDRESS")):
        yield
