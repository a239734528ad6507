"""Tables and figures in the documentation are those of the code and the result files."""

from tools.reader_tables import lost_with_all_evidence
from tools.write_tables import outdated, written


def test_tables_of_the_texts_are_up_to_date():
    assert not list(outdated()), "run python -m tools.write_tables"


def test_a_changed_figure_is_written_again():
    table = written("<!-- table: glimpse -->\n<!-- end of table -->\n")
    assert "| GleanVID, accuracy (%) | 87.9 |" in table
    assert written(table.replace("87.9", "99.9")) == table


def test_what_the_reader_loses_is_what_a_review_found_with_code_of_its_own():
    assert "| GleanVID, 25 % | 78 | 75.6 | 59.0 |" in lost_with_all_evidence()
