import json
from pathlib import Path

import pytest

from gleanvid.evaluation.run.setups import setup_from

RESULTS = Path(__file__).parents[2] / "results"
JOURNALS = sorted(set(RESULTS.glob("*/journal.jsonl")) - {RESULTS / "relevance/journal.jsonl"})


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.parent.name)
def test_published_accuracies_equal_those_of_the_stored_journal(path):
    right = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        row = json.loads(line)
        right.setdefault(row["setup"], {})[row["item"]] = bool(row.get("right", [False])[0])
    report = json.loads(path.with_name("results.json").read_text(encoding="utf-8"))
    for line in (line for line in report["results"] if line["how"] == report["how"][0]):
        setup = setup_from(line["setup"])
        draws = setup.draws if line.get("draws", 1) > 1 else (setup,)
        verdicts = [list(right[draw.key].values()) for draw in draws if draw.key in right]
        mean = sum(map(sum, verdicts)) / sum(map(len, verdicts))
        assert line["accuracy"] == pytest.approx(mean, abs=1e-6), line["setup"]
