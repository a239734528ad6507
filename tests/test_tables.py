import json

import pytest

from tools import hard_tables, soft_tables
from tools.write_tables import outdated, written

MEAN = "macro of hard kinds"


def test_generated_tables_in_the_documentation_are_up_to_date():
    assert not list(outdated()), "run python -m tools.write_tables"


def test_outdated_number_in_a_documentation_table_is_replaced():
    table = written("<!-- table: filmed -->\n<!-- end of table -->\n")
    assert "| GleanVID | 68 (61 to 77) |" in table
    assert written(table.replace("68", "99")) == table


@pytest.fixture
def evaluations(tmp_path, monkeypatch):
    """Made-up results of both steps of the protocol: label -> mean of the hard kinds."""

    def write(folder, right, p=None):
        rows = [line("All tokens", 1.0, 0.7)]
        for label, value in right.items():
            for ratio in hard_tables.RATIOS:
                row = line(label, ratio, value)
                if p and label in p:
                    row |= {f"gleanvid_soft_minus {MEAN}": 0.05}
                    row |= {f"p_gleanvid_soft_clips {MEAN}": p[label]}
                rows.append(row | {"failed": 9 * (label == "EVS" and ratio == 0.05)})
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "results.json").write_text(json.dumps({"results": rows}))

    for module in (hard_tables, soft_tables):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    hard_tables.rows.cache_clear()
    yield write
    hard_tables.rows.cache_clear()


def line(label, ratio, value):
    mean = {MEAN: value, f"{MEAN}_low": value - 0.02, f"{MEAN}_high": value + 0.02}
    return {"label": label, "retention_ratio": ratio, "questions": 9, "failed": 0} | mean


def test_tables_of_the_protocol_name_noise_accuracy_and_significant_leads(evaluations, capsys):
    for folder, better in zip(soft_tables.NOISE, (0.02, 0.04), strict=True):
        evaluations(folder, {"Soft GleanVID": 0.5, "Soft GleanVID (noise 5)": 0.5 + better})
    soft_tables.main()
    assert capsys.readouterr().out.splitlines()[3].endswith("| 54.0 | 53.00 |")  # means of eight
    for folder in soft_tables.FOLDERS:  # Holm over 16: 0.002 * 16 is below 0.05, 0.004 * 16 above
        right = {"Soft GleanVID": 0.6, "GleanVID": 0.55, "EVS": 0.4}
        evaluations(folder, right, {"GleanVID": 0.002, "EVS": 0.2})
    soft_tables.main()
    told = capsys.readouterr().out
    assert "| GleanVID | 55.0 (53 to 57) |" in told and "(42) | refused |" not in told
    assert "| Soft GleanVID minus |" in told and "| GleanVID | **+5.0** |" in told
    assert "| EVS | +5.0 |" in told and told.count("refused") == 4  # two tables, two sizes
