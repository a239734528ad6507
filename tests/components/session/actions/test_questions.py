"""Questions of a list: lines of text, and the files of ``gleanvid glimpse make``."""

from __future__ import annotations

import json

from components.session.actions.questions import as_lines, in_file, in_lines

LISTED = [("What moves?", "a square"), ("Where to?", None)]


def test_lines_are_read_as_they_are_written():
    assert in_lines(as_lines(LISTED)) == LISTED
    assert in_file(as_lines(LISTED) + "\n\n", "/clips/square.mp4") == LISTED


def test_a_file_of_json_lines_gives_the_questions_of_the_clip_alone():
    rows = [
        {"clip": "square.mp4", "text": "What moves?", "answer": "a square"},
        {"clip": "other.mp4", "text": "What rests?", "answer": "a circle"},
        {"question": "Where to?"},
        {"clip": "square.mp4"},
        [1, 2],
    ]
    text = "\n".join(map(json.dumps, rows[:4]))
    assert in_file(text, "/uploads/square.mp4") == LISTED
    assert in_file(json.dumps(rows[4]), "square.mp4") == [("[1, 2]", None)]


def test_json_nested_too_deep_is_a_plain_line():
    assert in_file("[" * 200_000, "square.mp4") == [("[" * 200_000, None)]
