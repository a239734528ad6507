"""The written figures cover every family and are what the oracle tests allow."""

from pathlib import Path

import pytest

from tests.models.conftest import AHEAD_ONLY, ALL, LATER

RESULTS = Path(__file__).parents[2] / "results"


@pytest.mark.parametrize(
    ("file", "lacking"), [("oracle.md", set()), ("oracle-transformers-5.17.md", LATER)]
)
def test_every_family_has_its_figures(file, lacking):
    lines = [line for line in (RESULTS / file).read_text().splitlines() if line.startswith("| `")]
    rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in lines]
    assert [row[0] for row in rows] == [family for family in ALL if family not in lacking]
    for family, everything, prefill, decoded, inside, *controls in rows:
        assert everything == "0"
        assert max(float(prefill), float(decoded)) < 1e-5
        assert inside == "refused" if family in AHEAD_ONLY else float(inside) < 1e-5
        assert min(float(control) for control in controls if control) > 0.01
