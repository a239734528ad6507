from tools.write_tables import outdated, written


def test_generated_tables_in_the_documentation_are_up_to_date():
    assert not list(outdated()), "run python -m tools.write_tables"


def test_outdated_number_in_a_documentation_table_is_replaced():
    table = written("<!-- table: filmed -->\n<!-- end of table -->\n")
    assert "| GleanVID | 68 (61 to 77) |" in table
    assert written(table.replace("68", "99")) == table
