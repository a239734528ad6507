from collections import defaultdict

from tools.comparison_tables import hard_verdicts
from tools.hard_tables import lost_with_all_evidence
from tools.write_tables import outdated, written


def test_generated_tables_in_the_documentation_are_up_to_date():
    assert not list(outdated()), "run python -m tools.write_tables"


def test_outdated_number_in_a_documentation_table_is_replaced():
    table = written("<!-- table: glimpse -->\n<!-- end of table -->\n")
    assert "| accuracy | GleanVID | 89.2 |" in table
    assert written(table.replace("89.2", "99.9")) == table


def test_accuracy_with_all_evidence_kept_equals_independently_computed_values():
    assert "| GleanVID | 25 % | 1,943 | 72.2 | 66.7 | -5.5 (" in lost_with_all_evidence()


def test_verdicts_of_the_hard_tables_are_those_that_readme_and_limits_state():
    """If this fails, reword "2,000 hard questions" in docs/limits.md, and the README."""
    found = hard_verdicts()
    assert {one for one in found if one[1] == "behind"} == {
        ("glimpse-hard", "behind", "V-CAST", 0.15),
        ("glimpse-hard", "behind", "V-CAST", 0.1),
        ("glimpse-hard", "behind", "Uniform", 0.15),
        ("glimpse-hard", "behind", "Uniform", 0.1),
        ("glimpse-hard", "behind", "DivPrune", 0.1),
        ("glimpse-hard", "behind", "DivPrune", 0.05),
        ("glimpse-hard", "behind", "FLoC", 0.05),
        ("glimpse-hard-96", "behind", "V-CAST", 0.25),
        ("glimpse-hard-96", "behind", "V-CAST", 0.15),
        ("glimpse-hard-96", "behind", "FLoC", 0.05),
    }
    ahead = defaultdict(set)
    for folder, verdict, label, ratio in found:
        if verdict == "ahead of":
            ahead[folder, label].add(ratio)
    assert ahead["glimpse-hard", "Random"] == {0.05}
    assert ahead["glimpse-hard-96", "Random"] == {0.25, 0.15, 0.1, 0.05}
    assert ahead["glimpse-hard-96", "Uniform"] == {0.25, 0.05}
    assert ahead["glimpse-hard-96", "Ablation (selection scs)"] == {0.25, 0.15}
    assert not ahead["glimpse-hard", "VidCom2"] | ahead["glimpse-hard-96", "VidCom2"]
