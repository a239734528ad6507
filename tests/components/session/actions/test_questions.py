from __future__ import annotations

import json
from pathlib import Path

from components.session.actions.questions import LINES, in_file, in_lines, of_clips
from components.session.examples import Example

HERE = {"square.mp4": "/clips/square.mp4"}


def test_line_of_a_known_question_has_its_answer_and_clip():
    twice = [("Where to?", "left", "a.mp4"), ("Where to?", "right", "b.mp4")]
    assert in_lines("Where to?\n\nWhy? \nWhere to?\nWhere to?", twice) == [
        twice[0],
        ("Why?", None, ""),
        twice[1],
        ("Where to?", None, ""),
    ]


def test_json_lines_file_gives_only_questions_about_clips_on_the_page():
    rows = [
        {"clip": "square.mp4", "text": "What moves?", "answer": "a square"},
        {"clip": "other.mp4", "text": "What rests?", "answer": "a circle"},
        {"question": "Where to?"},
        {"clip": "square.mp4"},
        [1, 2],
    ]
    text = "\n".join(map(json.dumps, rows[:4]))
    moves, where = ("What moves?", "a square", "square.mp4"), ("Where to?", None, "")
    assert in_file(text, HERE) == [moves, where]
    rests = ("What rests?", "a circle", "other.mp4")
    assert in_file(text, {**HERE, "other.mp4": ""}) == [moves, rests, where]
    assert in_file(json.dumps(rows[4]), HERE) == [("[1, 2]", None, "")]


def test_line_of_too_deeply_nested_json_is_read_as_a_plain_question():
    assert in_file("[" * 200_000, HERE) == [("[" * 200_000, None, "")]


def test_limit_of_suggested_questions_is_split_evenly_between_clips():
    pairs = tuple((f"Question {n}?", "yes") for n in range(10))
    clips = [Example(Path(f"/clips/{name}.mp4"), name, "", pairs) for name in "abc"]
    found = of_clips(clips, 7)
    assert [clip for *_, clip in found] == ["a.mp4"] * 2 + ["b.mp4"] * 2 + ["c.mp4"] * 2
    assert len({question for question, *_ in found}) == 2 and of_clips([], 7) == []


def test_only_the_first_lines_of_a_long_question_file_are_read():
    """Reading two million lines took 12 seconds, while other visitors waited."""
    assert len(in_file("[\n" * (2 * LINES), HERE)) == LINES
