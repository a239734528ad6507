"""Options of the test command."""

from pathlib import Path


def pytest_addoption(parser):
    parser.addoption(
        "--golden-dir",
        type=Path,
        default=Path(__file__).parent / "golden",
        help="folder of reference outputs, one JSON file a method, for tests/parity",
    )
