"""What a journal promises: whole lines only, bound to its settings, one writer."""

import errno
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


def test_appended_rows_are_read_back(path):
    with Journal(path, SETTINGS) as journal:
        assert journal.rows[("b", "gleanvid")]["answer"] == "größer"
        assert journal.done(("a", "full")) and not journal.done(("a", "gleanvid"))
    assert len(path.read_text("utf-8").splitlines()) == 3


@pytest.mark.parametrize("cut", [1, 7, 30])
def test_a_half_written_last_line_is_dropped_with_a_warning(path, cut, caplog):
    path.write_bytes(path.read_bytes()[:-cut])
    with Journal(path, SETTINGS) as journal:
        assert list(journal.rows) == [("a", "full")]
        journal.append(row("c"))
    assert "half-written" in caplog.text
    assert [json.loads(line).get("item") for line in path.open()] == [None, "a", "c"]


@pytest.mark.parametrize("damage", [b"{oops}", b"[1]", b'{"item": "a"}', b"\xff\xfe", b""])
def test_a_damaged_line_in_the_middle_is_named_and_nothing_is_changed(path, damage):
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
def test_other_settings_are_refused_with_the_name_of_the_setting(path, change, named):
    with pytest.raises(JournalError, match=named):
        Journal(path, SETTINGS | change)


def test_a_file_that_is_no_journal_is_refused(tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("hello\n")
    with pytest.raises(JournalError, match="line 1 is damaged"):
        Journal(other, SETTINGS)
    assert other.read_text() == "hello\n"


def test_a_failure_is_kept_but_not_done_and_a_later_answer_replaces_it(tmp_path):
    path = tmp_path / "j.jsonl"
    with Journal(path, SETTINGS) as journal:
        journal.append({"item": "a", "setup": "full", "error": "boom"})
        assert not journal.done(("a", "full")) and journal.rows[("a", "full")]["error"] == "boom"
        journal.append(row("a"))
        journal.append({"item": "a", "setup": "full", "error": "late"})
        assert journal.done(("a", "full"))
    with Journal(path, SETTINGS) as journal:
        assert journal.rows[("a", "full")]["right"]


def test_two_writers_are_refused(path):
    with Journal(path, SETTINGS), pytest.raises(JournalError, match="another process"):
        Journal(path, SETTINGS)
    Journal(path, SETTINGS).close()


class FullDisk:
    """A file that takes a few bytes and then says that there is no space."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def write(self, data):
        taken = self.file.write(bytes(data[: self.room]))
        self.room -= taken
        if not taken:
            raise OSError(errno.ENOSPC, "No space left on device")
        return taken

    def __getattr__(self, name):
        return getattr(self.file, name)


def test_a_full_disk_leaves_whole_lines_and_says_what_to_do(path):
    before = path.read_bytes()
    with Journal(path, SETTINGS) as journal:
        journal._file = FullDisk(journal._file, 11)
        with pytest.raises(JournalError, match=r"disk is full; the 2 results so far are kept"):
            journal.append(row("c"))
        assert not journal.done(("c", "full"))
    assert path.read_bytes() == before
