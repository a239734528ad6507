from tools.hard_tables import lost_with_all_evidence
from tools.write_tables import outdated, written


def test_generated_tables_in_the_documentation_are_up_to_date():
    assert not list(outdated()), "run python -m tools.write_tables"


def test_outdated_number_in_a_documentation_table_is_replaced():
    table = written("<!-- table: glimpse -->\n<!-- end of table -->\n")
    assert "| GleanVID, accuracy (%) | 89.2 |" in table
    assert written(table.replace("89.2", "99.9")) == table


def test_accuracy_with_all_evidence_kept_equals_independently_computed_values():
    assert "| GleanVID | 25 % | 1,943 | 72.2 | 66.7 | -5.5 (" in lost_with_all_evidence()
