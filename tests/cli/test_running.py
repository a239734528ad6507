"""Commands show progress on long work only."""

import pytest

from gleanvid.cli import running
from gleanvid.evaluation.run.progress import Progress


def steps(seconds, count=5):
    """Progress of ``count`` steps that take ``seconds`` together."""
    for done in range(1, count + 1):
        yield Progress(done, count, 0, seconds * done / count, 1.0)


@pytest.mark.parametrize("live", [False, True])
def test_progress_bar_of_short_work_is_not_drawn(live, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: live, raising=False)
    draw = running.drawer()
    for step in steps(1.9):
        draw(step)
    assert capsys.readouterr().err == ""


def test_progress_bar_of_long_work_ends_with_its_line(monkeypatch, capsys):
    draw = running.drawer()
    for step in steps(60):
        draw(step)
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 5 and told[0].endswith("1/5 20%, 0:12, 0:01 left")
    assert told[-1].endswith("5/5 100%, 1:00")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    draw = running.drawer()
    for step in steps(60):
        draw(step)
    told = capsys.readouterr().err
    assert told.count("\r") == 5 and told.count("\n") == 1 and told.endswith("1:00\n")


def test_words_of_a_command_are_told_once_it_takes_long(monkeypatch, capsys):
    tell = running.report_long()
    tell("encoding")
    monkeypatch.setattr(running, "LONG_S", -1)
    tell("prefill")
    assert capsys.readouterr().err == "prefill\n"
