import json

import pytest

from gleanvid.evaluation.run.journal import Journal, JournalError

SETTINGS = {"model": "abc", "benchmark": {"name": "fake", "split": "test"}, "seed": 0}


def row(item, setup="full", **more):
    return {"item": item, "setup": setup, "right": True} | more


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "new folder" / "journal.jsonl"
    with Journal(path, SETTINGS) as journal:
        journal.append(row("a"))
        journal.append(row("b", "gleanvid", answer="größer"))
    return path


def test_answers_appended_to_a_journal_are_read_back(path):
    with Journal(path, SETTINGS) as journal:
        assert journal.rows[("b", "gleanvid")]["answer"] == "größer"
        assert journal.done(("a", "full")) and not journal.done(("a", "gleanvid"))
    assert len(path.read_text("utf-8").splitlines()) == 3


@pytest.mark.parametrize("cut", [1, 7, 30])
def test_half_written_last_line_of_a_journal_is_dropped_with_a_warning(path, cut, caplog):
    path.write_bytes(path.read_bytes()[:-cut])
    with Journal(path, SETTINGS) as journal:
        assert list(journal.rows) == [("a", "full")]
        journal.append(row("c"))
    assert "half-written" in caplog.text
    assert [json.loads(line).get("item") for line in path.open()] == [None, "a", "c"]


@pytest.mark.parametrize("damage", [b"{oops}", b"[1]", b'{"item": "a"}', b"\xff\xfe", b""])
def test_error_for_a_damaged_journal_line_has_its_number_and_the_file_is_unchanged(path, damage):
    lines = path.read_bytes().splitlines()
    lines[1] = damage
    path.write_bytes(b"\n".join(lines) + b"\n")
    before = path.read_bytes()
    with pytest.raises(JournalError, match=r"journal\.jsonl, line 2 is damaged"):
        Journal(path, SETTINGS)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"model": "xyz"}, "model='abc'"),
        ({"seed": 1}, "seed=1"),
        ({"benchmark": {"name": "fake", "split": "train"}}, "benchmark.split='test'"),
        ({"frames": 8}, "frames=None"),
    ],
)
def test_error_for_a_journal_of_other_settings_names_the_setting(path, change, named):
    with pytest.raises(JournalError, match=named):
        Journal(path, SETTINGS | change)


def test_failed_question_is_not_done_until_an_answer_replaces_its_error(tmp_path):
    path = tmp_path / "j.jsonl"
    with Journal(path, SETTINGS) as journal:
        journal.append({"item": "a", "setup": "full", "error": "boom"})
        assert not journal.done(("a", "full")) and journal.rows[("a", "full")]["error"] == "boom"
        journal.append(row("a"))
        journal.append({"item": "a", "setup": "full", "error": "late"})
        assert journal.done(("a", "full"))
    with Journal(path, SETTINGS) as journal:
        assert journal.rows[("a", "full")]["right"]


def test_second_writer_of_a_journal_is_refused(path):
    with Journal(path, SETTINGS), pytest.raises(JournalError, match="another process"):
        Journal(path, SETTINGS)
    Journal(path, SETTINGS).close()
