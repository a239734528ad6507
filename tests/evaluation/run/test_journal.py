import errno
import json
import os

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


def test_journal_deleted_while_it_is_written_is_an_error(path):
    with Journal(path, SETTINGS) as journal:
        path.unlink()
        with pytest.raises(JournalError, match="was deleted while it was written"):
            journal.append(row("c"))


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


def test_file_that_is_no_journal_is_refused(tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("hello\n")
    with pytest.raises(JournalError, match="line 1 is damaged"):
        Journal(other, SETTINGS)
    assert other.read_text() == "hello\n"


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


class FullDisk:
    """A fake file that accepts a few bytes, then raises because the disk is full."""

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


def test_journal_on_a_full_disk_keeps_whole_lines_and_says_what_to_do(path):
    before = path.read_bytes()
    with Journal(path, SETTINGS) as journal:
        journal._file = FullDisk(journal._file, 11)
        with pytest.raises(JournalError, match=r"disk is full; the 2 results so far are kept"):
            journal.append(row("c"))
        assert not journal.done(("c", "full"))
    assert path.read_bytes() == before


def test_pipe_link_or_folder_in_place_of_a_journal_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "missing")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for name in ("pipe", "folder", "link", "file/journal.jsonl"):
        with pytest.raises(JournalError, match=name):
            Journal(tmp_path / name, SETTINGS)
    assert not (tmp_path / "missing").exists()
