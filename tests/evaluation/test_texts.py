"""What README and model card say is what the result files say."""

from tests.evaluation.texts import README, ROOT, problems


def test_every_figure_of_the_texts_is_that_of_the_results():
    assert not list(problems())


def test_a_figure_that_no_result_gives_is_found():
    text = (ROOT / README).read_text(encoding="utf-8")
    wrong = text.replace("| GleanVID, accuracy (%) | ", "| GleanVID, accuracy (%) | 9")
    told = list(problems({README: wrong}))
    assert any("does not say: | GleanVID, accuracy (%)" in line for line in told)
    more = text.replace("\n## Sharing", "\nIt is right in 99.9 % of all cases.\n\n## Sharing")
    assert f"{README}: no result says 99.9 %" in problems({README: more})
